import { expect, test } from "vitest";
import { countRows, take } from "./counting.ts";

test("rows are counted only once somebody has asked, so that what fills an object leaves nothing on the heap", () => {
  const sql = { exec: (_query: string) => ({ rowsRead: 2, rowsWritten: 1 }) };
  const none = { put: () => undefined, delete: () => undefined };
  const storage = { ...none, kv: none, sql, setAlarm: none.put, deleteAlarm: none.put };
  countRows({ storage } as unknown as DurableObjectState, () => true);
  sql.exec("select 1");
  expect(take()).toMatchObject({ read: 0, written: 0 });
  sql.exec("select 1");
  sql.exec("select 1");
  expect(take()).toMatchObject({ read: 4, written: 2 });
});

test("each statement of a text is counted, and a semicolon in a value ends none", () => {
  const run: unknown[][] = [];
  const sql = {
    exec: (...given: unknown[]) => {
      run.push(given);
      return { rowsRead: 0, rowsWritten: 5 };
    },
  };
  const none = { put: () => undefined, delete: () => undefined };
  const storage = { ...none, kv: none, sql, setAlarm: none.put, deleteAlarm: none.put };
  countRows({ storage } as unknown as DurableObjectState, () => true);
  take();
  sql.exec("-- A row's;\ncreate table a (b); create index c on a (b);\n insert into a values ('x;y', ?);\n", "z");
  expect(run).toEqual([
    ["-- A row's;\ncreate table a (b)"],
    [" create index c on a (b)"],
    ["\n insert into a values ('x;y', ?)", "z"],
  ]);
  expect(take()).toMatchObject({ written: 15 });
  const trigger = "create trigger d after insert on a begin update a set b = 1; delete from e; end";
  sql.exec(`${trigger}; select 1`);
  expect(run.slice(3)).toEqual([[trigger], [" select 1"]]);
});
