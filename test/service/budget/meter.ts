import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { countRows, take } from "../../bench/workers/counting.ts";
import { runAlarm } from "../../support/alarms.ts";
import { NAMESPACES } from "../../support/faults.ts";

/**
 * Counts what is billed from here on: calls to objects, with each alarm as one, rows that the objects write, and
 * statements that write to D1.
 */
export async function meter(objects: DurableObjectStub[]) {
  for (const object of objects) {
    // Its storage is watched until the object is destroyed.
    await runInDurableObject(object, (_object, state) => countRows(state, () => true));
  }
  const called = NAMESPACES.map((namespace) => vi.spyOn(env[namespace], "getByName"));
  const prepared = vi.spyOn(env.DB, "prepare");
  let alarms = 0;
  take();
  return {
    ring: async (object: DurableObjectStub) => {
      expect(await runAlarm(object)).toBe(true);
      alarms++;
    },
    read: () => {
      const calls = called.reduce((sum, spy) => sum + spy.mock.calls.length, alarms);
      // `runAlarm` deletes the alarm that it runs, and the platform does not.
      const rows = take().written - alarms;
      const directory = prepared.mock.calls.filter(([query]) => /^\s*(insert|update|delete)/i.test(query)).length;
      for (const spy of [...called, prepared]) spy.mockClear();
      alarms = 0;
      return { calls, rows, directory };
    },
  };
}
