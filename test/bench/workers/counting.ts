import type { Tally } from "../tally.ts";
import type { Around } from "./hops.ts";

const counted: Tally = { objectCalls: 0, trips: 0, statements: 0, rows: 0 };
let cursors: { rowsWritten: number }[] = [];

/** What this isolate has counted since it was last asked. */
export function take(): Tally {
  for (const cursor of cursors) counted.rows += cursor.rowsWritten;
  cursors = [];
  const taken = { ...counted };
  for (const name of Object.keys(counted) as (keyof Tally)[]) counted[name] = 0;
  return taken;
}

/** Counts hops. `isCounted` leaves out what an alarm does, which belongs to no request. */
export function countHops(isCounted: () => boolean): Around {
  return async (hop, statements, go) => {
    if (!isCounted()) return go();
    if (hop === "object") counted.objectCalls++;
    else {
      counted.trips++;
      counted.statements += statements;
    }
    const result = await go();
    if (hop === "database") counted.rows += [result].flat().reduce((sum: number, one) => sum + writtenBy(one), 0);
    return result;
  };
}

/** Counts the rows that an object writes, by taking the place of its storage's own methods. */
export function countRows({ storage }: DurableObjectState, isCounted: () => boolean): void {
  const { sql, kv } = storage;
  const exec = sql.exec.bind(sql);
  sql.exec = ((query: string, ...values: unknown[]) => {
    const cursor = exec(query, ...(values as never[]));
    // How many it wrote is known once its last row was read.
    if (isCounted()) cursors.push(cursor);
    return cursor;
  }) as typeof sql.exec;
  for (const [owner, methods] of [
    [kv, ["put", "delete"]],
    [storage, ["put", "delete", "setAlarm", "deleteAlarm"]],
  ] as unknown as [Record<string, (...given: unknown[]) => unknown>, string[]][]) {
    for (const method of methods) {
      const original = owner[method]?.bind(owner);
      owner[method] = (...given: unknown[]) => {
        if (isCounted()) counted.rows++;
        return original?.(...given);
      };
    }
  }
}

function writtenBy(result: unknown): number {
  return (result as { meta?: { rows_written?: number } } | undefined)?.meta?.rows_written ?? 0;
}
