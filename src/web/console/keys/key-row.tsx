import { number, plural } from "../format.ts";
import { useGet, usePlace } from "../organization.ts";
import { Badge } from "../parts/badge.tsx";
import { Copyable } from "../parts/copy.tsx";
import { LastDays } from "../parts/history-chart.tsx";
import { RowMain } from "../parts/list-screen.tsx";
import { useSeen } from "../parts/seen.ts";
import { now, Time } from "../parts/time.tsx";
import { may } from "../session.ts";
import { type Key, rateText, stateOf } from "./key-state.ts";
import { Quota } from "./quota.tsx";

/** A key of the list, and when it was last used; undefined if that is not known. */
export interface ListedKey {
  key: Key;
  usedAt: string | null | undefined;
}

/** One key: what it may do, and how much it is used. */
export function KeyRow({ row: { key, usedAt } }: { row: ListedKey }) {
  const { to } = usePlace();
  const [element, isSeen] = useSeen<HTMLLIElement>();
  const { id, name, permissions, rateLimit, expiresAt } = key;
  const state = stateOf(key, now.value);
  return (
    <li class={state.isLive ? "row" : "row row-over"} ref={element}>
      <RowMain
        name={name}
        href={to(`keys/${id}`)}
        mark={state.name !== "Active" && <Badge tone={state.tone} label={state.name} />}
      >
        <p class="row-detail">
          <Copyable text={id} />
        </p>
        <p class="row-detail">
          {plural(permissions.length, "permission")} · {rateText(rateLimit, number)}
          {state.isLive && expiresAt !== null && (
            <>
              {" · expires "}
              <Time at={expiresAt} future />
            </>
          )}
        </p>
      </RowMain>
      <div class="key-use">{isSeen && state.isLive && <Use id={id} name={name} />}</div>
      {usedAt !== undefined && (
        <p class="row-aside">
          <span class="quiet">Last used</span>
          {usedAt === null ? <span>Never</span> : <Time at={usedAt} long />}
        </p>
      )}
    </li>
  );
}

function Use({ id, name }: { id: string; name: string }) {
  const usage = useGet("/keys/{id}/usage", { path: { id } });
  return (
    <>
      {may("stats:read") && <LastDays of={id} label={`Requests of ${name}`} />}
      {usage.data && <Quota usage={usage.data.usage} />}
    </>
  );
}
