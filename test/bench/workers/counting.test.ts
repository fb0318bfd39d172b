import { expect, test } from "vitest";
import { countRows, take } from "./counting.ts";

test("rows are counted only once somebody has asked, so that what fills an object leaves nothing on the heap", () => {
  const sql = { exec: () => ({ rowsRead: 2, rowsWritten: 1 }) };
  const none = { put: () => undefined, delete: () => undefined };
  const storage = { ...none, kv: none, sql, setAlarm: none.put, deleteAlarm: none.put };
  countRows({ storage } as unknown as DurableObjectState, () => true);
  sql.exec();
  expect(take()).toMatchObject({ read: 0, written: 0 });
  sql.exec();
  sql.exec();
  expect(take()).toMatchObject({ read: 4, written: 2 });
});
