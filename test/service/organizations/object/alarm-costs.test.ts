import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { newId } from "../../../../src/model/id.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { rowsRead } from "../../../support/rows-read.ts";
import { filled, object, quietPlace, withOldChats } from "./contacts.ts";

const CHATS = 3_000;

/** The rows that an alarm of the organization's object reads. */
async function rowsOfAlarm(organizationId: string): Promise<number> {
  const rows = await rowsRead(object(organizationId), async () => {
    expect(await runAlarm(object(organizationId))).toBe(true);
  });
  return rows.reduce((sum, each) => sum + each, 0);
}

test("an alarm reads no chats of an organization that nobody left, and of one that somebody left only theirs", async () => {
  const { organizationId, channelId } = await quietPlace();
  await withOldChats(organizationId, channelId, CHATS);
  await filled(organizationId);
  // What was new is reported first.
  await runAlarm(object(organizationId));
  expect(await rowsOfAlarm(organizationId)).toBeLessThan(100);
  const [stays, leaves] = [newId("mbr", null), newId("mbr", null)];
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    storage.sql.exec("update chats set assignee = ? where address like 'old-%'", stays);
    storage.sql.exec("insert into leaving_members (id, at, is_removed) values (?, ?, 1)", leaves, Date.now() + 60_000);
  });
  expect(await rowsOfAlarm(organizationId)).toBeLessThan(100);
});

test("an alarm reads no event of the organization's own that is kept", async () => {
  const { organizationId, channelId } = await quietPlace();
  await withOldChats(organizationId, channelId, 1);
  await filled(organizationId);
  await runAlarm(object(organizationId));
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    const insert = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?)
      insert into own_events (type, note, at) select 'chat.deleted', '{}', ? from numbers`;
    storage.sql.exec(insert, CHATS, Date.now());
  });
  expect(await rowsOfAlarm(organizationId)).toBeLessThan(100);
});
