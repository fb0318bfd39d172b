import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Channel } from "../api.ts";
import { inTab } from "../in-tab.ts";
import type { SettingsChange, SettingValues } from "./channel-kinds.ts";

/** The settings of channels that were changed and not saved. */
const settingsDrafts = inTab<SettingsChange>("parley.settings.");

/** What a person changes of a channel's settings. It stays in the tab until it is saved or discarded. */
export function useSettingsDraft({ id, settings }: Pick<Channel, "id" | "settings">) {
  const draft = useSignal(settingsDrafts.read(id) ?? {});
  const keep = (change: SettingsChange) => {
    draft.value = change;
    settingsDrafts.save(id, Object.keys(change).length > 0 ? change : null);
  };
  const changed = differing(draft.value, settings);
  const count = Object.keys(changed).length;
  useEffect(() => {
    if (count === 0) return;
    // A closed tab would lose them.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [count > 0]);
  return {
    /** The settings as they would be saved. */
    shown: withoutNull({ ...settings, ...changed }),
    changed,
    count,
    set: (change: SettingsChange) => keep(differing({ ...draft.peek(), ...change }, settings)),
    discard: () => keep({}),
  };
}

/** The part of a change that changes something. */
function differing(change: SettingsChange, settings: SettingValues): SettingsChange {
  const before: SettingsChange = settings;
  return Object.fromEntries(
    Object.entries(change).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof SettingValues] ?? null),
    ),
  );
}

function withoutNull(settings: SettingsChange): SettingValues {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}
