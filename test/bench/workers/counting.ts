import type { Tally } from "../tally.ts";
import type { Around } from "./hops.ts";

const counted: Tally = { objectCalls: 0, trips: 0, statements: 0, read: 0, written: 0 };
/**
 * Undefined until somebody asks for counts. The cursors of a million written messages would stay on the heap, and each
 * collection of garbage would hold up the requests that are timed.
 */
let cursors: { rowsRead: number; rowsWritten: number }[] | undefined;

/** What this isolate has counted since the last call. Rows that objects read and wrote before the first are not counted. */
export function take(): Tally {
  for (const { rowsRead, rowsWritten } of cursors ?? []) {
    counted.read += rowsRead;
    counted.written += rowsWritten;
  }
  cursors = [];
  const taken = { ...counted };
  for (const name of Object.keys(counted) as (keyof Tally)[]) counted[name] = 0;
  return taken;
}

/** Counts hops. `isCounted` is false during an alarm, which belongs to no request. */
export function countHops(isCounted: () => boolean): Around {
  return async (hop, statements, go) => {
    if (!isCounted()) return go();
    if (hop === "object") counted.objectCalls++;
    else {
      counted.trips++;
      counted.statements += statements;
    }
    const result = await go();
    if (hop === "database") for (const one of [result].flat()) countMeta(one);
    return result;
  };
}

/** The statements of a text. The body of a trigger has semicolons of its own, and a comment quotes nothing. */
function statementsOf(text: string): string[] {
  const statements = text.match(/(?:--[^\n]*|create trigger.*?\bend\b|'[^']*'|"[^"]*"|[^;'"])+/gis) ?? [];
  return statements.filter((statement) => statement.trim() !== "");
}

const watched = new WeakSet<DurableObjectStorage>();

/** Counts the rows that an object writes, by replacing the methods of its storage, once. */
export function countRows({ storage }: DurableObjectState, isCounted: () => boolean): void {
  if (watched.has(storage)) return;
  watched.add(storage);
  const { sql, kv } = storage;
  const exec = sql.exec.bind(sql);
  sql.exec = ((query: string, ...values: unknown[]) => {
    const run = (statement: string, ...given: unknown[]) => {
      const cursor = exec(statement, ...(given as never[]));
      // A cursor knows its number of rows when its last row was read.
      if (isCounted()) cursors?.push(cursor);
      return cursor;
    };
    // The cursor of several statements has the rows of the last one only.
    const statements = statementsOf(query);
    for (const statement of statements.slice(0, -1)) run(statement);
    return run(statements.at(-1) ?? query, ...values);
  }) as typeof sql.exec;
  for (const [owner, methods] of [
    [kv, ["put", "delete"]],
    [storage, ["put", "delete", "setAlarm", "deleteAlarm"]],
  ] as unknown as [Record<string, (...given: unknown[]) => unknown>, string[]][]) {
    for (const method of methods) {
      const original = owner[method]?.bind(owner);
      owner[method] = (...given: unknown[]) => {
        if (isCounted()) counted.written++;
        return original?.(...given);
      };
    }
  }
}

function countMeta(result: unknown): void {
  const meta = (result as { meta?: Partial<D1Meta> } | null)?.meta;
  counted.read += meta?.rows_read ?? 0;
  counted.written += meta?.rows_written ?? 0;
}
