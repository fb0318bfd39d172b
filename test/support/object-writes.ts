import { runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";

/** The rows that an object's SQL writes while `work` runs, and its writes of values and alarms. */
export async function objectWrites({ object }: { object: () => DurableObjectStub }, work: () => Promise<unknown>) {
  const counts = { rows: 0, values: 0, alarms: 0 };
  await runInDurableObject(object(), (_object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    vi.spyOn(storage.sql, "exec").mockImplementation(((...given: Parameters<typeof exec>) => {
      const cursor = exec(...given);
      if (!/^\s*(select|with)/i.test(given[0])) counts.rows += cursor.rowsWritten;
      return cursor;
    }) as typeof exec);
    const put = storage.kv.put.bind(storage.kv);
    vi.spyOn(storage.kv, "put").mockImplementation((...given) => {
      counts.values++;
      put(...given);
    });
    const setAlarm = storage.setAlarm.bind(storage);
    vi.spyOn(storage, "setAlarm").mockImplementation((...given) => {
      counts.alarms++;
      return setAlarm(...given);
    });
  });
  await work();
  return counts;
}
