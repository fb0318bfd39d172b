import { env } from "cloudflare:workers";

/** The variable that says how far the service's clock is ahead of the machine's, in milliseconds. */
const AHEAD_MS = Number((env as unknown as Record<string, string | undefined>).STORM_AHEAD_MS ?? 0);
const KNOWN = "storm-ahead";

const machineNow = Date.now;
if (AHEAD_MS > 0) Date.now = () => machineNow() + AHEAD_MS;

/** Makes an object's alarms ring by the service's clock. Those that the clock has passed ring when the object wakes. */
export function setAlarmsByClock(state: DurableObjectState): void {
  if (AHEAD_MS === 0) return;
  const { storage } = state;
  const getAlarm = storage.getAlarm.bind(storage);
  const setAlarm = storage.setAlarm.bind(storage);
  storage.setAlarm = (at, options) => setAlarm(Number(at) - AHEAD_MS, options);
  storage.getAlarm = async (options) => {
    const at = await getAlarm(options);
    return at === null ? null : at + AHEAD_MS;
  };
  void state.blockConcurrencyWhile(async () => {
    const moved = AHEAD_MS - (storage.kv.get<number>(KNOWN) ?? 0);
    if (moved === 0) return;
    storage.kv.put(KNOWN, AHEAD_MS);
    const at = await getAlarm();
    if (at !== null) await setAlarm(at - moved);
  });
}
