import { longAgo } from "../format.ts";
import { usePlace } from "../organization.ts";
import { TextButton } from "../parts/button.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { now } from "../parts/time.tsx";
import { type Resource, useResource } from "../resource.ts";
import type { Check } from "./channel-kinds.ts";

const NAMES: Record<Check["name"], string> = { credentials: "Credentials", webhook: "Webhook", network: "Network" };
const SIGNS: Record<Check["state"], { icon: IconName; tone: string; word: string }> = {
  ok: { icon: "check", tone: "good", word: "Good" },
  warns: { icon: "warning", tone: "warn", word: "Works, with a problem" },
  fails: { icon: "close", tone: "failed", word: "Does not work" },
  unknown: { icon: "clock", tone: "quiet", word: "Not checked" },
};

/** Asks the network about a channel. @param isAsked false: nothing is asked yet */
export function useChecks(channelId: string, isAsked = true): Resource<Check[]> {
  const { api } = usePlace();
  return useResource(isAsked ? `checks ${channelId}` : null, async (signal) => {
    return (await api.POST("/channels/{id}/check", { path: { id: channelId }, signal })).checks;
  });
}

interface ChecksProps {
  checks: Resource<Check[]>;
  /** Shows these alone. */
  only?: Check["name"][];
  /** Something that does not work yet is not a fault. */
  isWaiting?: boolean;
}

/** What the checks found, and what to do. */
export function Checks({ checks, only, isWaiting = false }: ChecksProps) {
  const { reload, loadedAt } = checks;
  return (
    <Loaded resource={checks} rows={1}>
      {(all) => (
        <div class="stack" aria-live="polite">
          <ul class="stack">
            {all
              .filter(({ name }) => !only || only.includes(name))
              .map(({ name, state, found, advice }) => {
                const { icon, tone, word } = SIGNS[isWaiting ? "unknown" : state];
                return (
                  <li key={name} class="beside">
                    <span class={tone}>
                      <Icon name={icon} />
                    </span>
                    <div>
                      <p>
                        <strong>{NAMES[name]}</strong> <span class="hidden">{word}.</span>
                      </p>
                      <p>{found}.</p>
                      {advice !== null && (
                        <p>
                          <strong>{advice}.</strong>
                        </p>
                      )}
                    </div>
                  </li>
                );
              })}
          </ul>
          <p class="quiet note">
            {loadedAt > 0 && `Checked ${longAgo(loadedAt, now.value)}. `}
            <TextButton onClick={reload}>Check again</TextButton>
          </p>
        </div>
      )}
    </Loaded>
  );
}

/** Whether all of these checks are good; null if they are not known. */
export function areGood(checks: Check[] | undefined, ...names: Check["name"][]): boolean | null {
  const found = checks?.filter(({ name }) => names.includes(name));
  return found === undefined ? null : found.every(({ state }) => state === "ok" || state === "warns");
}
