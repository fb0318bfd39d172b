import { runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";

/** The number of rows that each statement of an object reads while `run` runs. */
export async function rowsRead(object: DurableObjectStub, run: () => Promise<unknown>): Promise<number[]> {
  const cursors: { rowsRead: number }[] = [];
  await runInDurableObject(object, (_object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    vi.spyOn(storage.sql, "exec").mockImplementation(((query: string, ...given: unknown[]) => {
      const cursor = exec(query, ...given);
      cursors.push(cursor);
      return cursor;
    }) as never);
  });
  await run();
  return runInDurableObject(object, () => {
    vi.restoreAllMocks();
    return cursors.map((cursor) => cursor.rowsRead);
  });
}
