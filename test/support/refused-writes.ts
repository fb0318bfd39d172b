import { runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import { ringAlarm } from "./alarms.ts";

/** The platform's words for an account that has used its rows of the day. */
const REFUSED = "Exceeded allowed rows written in Durable Objects free tier.";
/** D1's words for the same. */
export const REFUSED_BY_D1 =
  "D1_ERROR: Your account has exceeded D1's free tier daily row write limit. Upgrade to a paid plan or wait until tomorrow (midnight UTC) to continue.";

/** How often the platform repeats an alarm that fails. Then it gives the alarm up. */
const REPEATS = 6;

/**
 * From here on, the platform refuses each write of all objects, and reads work. `vi.restoreAllMocks()` ends it.
 * @param object any object: all have the same storage classes
 * @returns a function that ends it too
 */
export async function refuseWrites(object: DurableObjectStub): Promise<() => void> {
  const refuse = () => {
    throw new Error(REFUSED);
  };
  const reject = () => Promise.reject(new Error(REFUSED));
  const spies = await runInDurableObject(object, (_object, { storage }) => {
    const sql = Object.getPrototypeOf(storage.sql) as SqlStorage;
    const kv = Object.getPrototypeOf(storage.kv) as SyncKvStorage;
    const all = Object.getPrototypeOf(storage) as DurableObjectStorage;
    const exec = Reflect.get(sql, "exec");
    const readOnly = function readOnly(this: SqlStorage, query: string, ...values: unknown[]) {
      return /^\s*(select|with)/i.test(query) ? Reflect.apply(exec, this, [query, ...values]) : refuse();
    };
    return [
      vi.spyOn(sql, "exec").mockImplementation(readOnly as never),
      vi.spyOn(kv, "put").mockImplementation(refuse),
      vi.spyOn(kv, "delete").mockImplementation(refuse),
      vi.spyOn(all, "setAlarm").mockImplementation(reject),
      vi.spyOn(all, "deleteAll").mockImplementation(reject),
    ];
  });
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

/** Rings an object's alarm as the platform does: an alarm that fails is repeated six times, and then given up. */
export async function ringOrGiveUp(object: DurableObjectStub): Promise<"rang" | "none" | "given up"> {
  try {
    return (await ringAlarm(object)) ? "rang" : "none";
  } catch {
    for (let repeat = 1; repeat <= REPEATS; repeat++) {
      const isOver = await runInDurableObject(object, async (instance) => {
        const { alarm } = instance as unknown as { alarm: (info: AlarmInvocationInfo) => Promise<void> };
        const info = { isRetry: true, retryCount: repeat } as AlarmInvocationInfo;
        return alarm.call(instance, info).then(
          () => true,
          () => false,
        );
      });
      if (isOver) return "rang";
    }
    return "given up";
  }
}
