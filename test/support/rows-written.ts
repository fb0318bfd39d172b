import { env } from "cloudflare:workers";
import { vi } from "vitest";

const statements = Object.getPrototypeOf(env.DB.prepare("select 1")) as D1PreparedStatement;

/**
 * Counts the rows that D1 writes from here on. A writing statement whose result has no count counts as one row.
 * `vi.restoreAllMocks()` ends it.
 * @returns a function that resolves to the count so far
 */
export function countRowsWritten(): () => Promise<number> {
  const results: Promise<unknown>[] = [];
  let uncounted = 0;
  for (const method of ["run", "all"] as const) {
    const original = Reflect.get(statements, method) as (...given: unknown[]) => Promise<unknown>;
    vi.spyOn(statements, method).mockImplementation(function counted(this: D1PreparedStatement, ...given: unknown[]) {
      const result = original.apply(this, given);
      results.push(result);
      return result;
    } as never);
  }
  // What these resolve to has no count.
  for (const method of ["raw", "first"] as const) {
    const original = Reflect.get(statements, method) as (...given: unknown[]) => Promise<unknown>;
    vi.spyOn(statements, method).mockImplementation(function counted(this: { statement: string }, ...given: unknown[]) {
      if (!/^\s*select\b/i.test(this.statement)) uncounted++;
      return original.apply(this, given);
    } as never);
  }
  const batch = env.DB.batch.bind(env.DB);
  vi.spyOn(env.DB, "batch").mockImplementation((given) => {
    const result = batch(given);
    results.push(result);
    return result as never;
  });
  return async () => {
    const settled = await Promise.allSettled(results);
    const written = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value].flat() : []));
    return written.reduce<number>((sum, result) => sum + (result as D1Result).meta.rows_written, uncounted);
  };
}
