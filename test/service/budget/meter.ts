import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { countRows, take } from "../../bench/workers/counting.ts";
import { runOneAlarm } from "../../support/alarms.ts";
import { NAMESPACES } from "../../support/faults.ts";

/** Lets a meter count what a chat's object writes from its first call on, for each that is adopted from here on. @returns their ids */
export function watchNewChats(): () => string[] {
  const getByName = env.CHATS.getByName.bind(env.CHATS);
  const watched = new Set<string>();
  vi.spyOn(env.CHATS, "getByName").mockImplementation((name, options) => {
    const stub = getByName(name, options);
    return new Proxy(stub, {
      get(target, property) {
        const own = Reflect.get(target, property, target);
        if (property === "fetch") return own.bind(target);
        if (property !== "adopt" && property !== "receive") return own;
        return async (...given: unknown[]) => {
          if (!watched.has(name)) await runInDurableObject(stub, (_object, state) => countRows(state, () => true));
          watched.add(name);
          return (own as (...all: unknown[]) => unknown)(...given);
        };
      },
    });
  });
  return () => [...watched];
}

/**
 * Counts what is billed from here on: calls to objects, with each alarm as one, rows that the objects write, and
 * statements that write to D1.
 */
export async function meter(objects: DurableObjectStub[]) {
  const watch = (object: DurableObjectStub) =>
    runInDurableObject(object, (_object, state) => countRows(state, () => true));
  for (const object of objects) await watch(object);
  const called = NAMESPACES.map((namespace) => vi.spyOn(env[namespace], "getByName"));
  const prepared = vi.spyOn(env.DB, "prepare");
  let alarms = 0;
  take();
  return {
    ring: async (object: DurableObjectStub) => {
      // The runtime may have destroyed the object that was watched.
      await watch(object);
      expect(await runOneAlarm(object)).toBe(true);
      alarms++;
    },
    read: () => {
      const calls = called.reduce((sum, spy) => sum + spy.mock.calls.length, alarms);
      // `runOneAlarm` deletes the alarm that it runs, and the platform does not.
      const rows = take().written - alarms;
      const directory = prepared.mock.calls.filter(([query]) => /^\s*(insert|update|delete)/i.test(query)).length;
      for (const spy of [...called, prepared]) spy.mockClear();
      alarms = 0;
      return { calls, rows, directory };
    },
  };
}
