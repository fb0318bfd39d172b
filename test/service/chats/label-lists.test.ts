import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { newId } from "../../../src/model/id.ts";
import { admin, expectFaults, newChannel, newChat } from "../../support/harness.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { team } from "./assignment-fixtures.ts";
import { report } from "./inbound.ts";
import { labelsOf } from "./label-fixtures.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

/** An organization with a label and chats, in the order of their activity: the last one is the latest. */
async function desk() {
  const place = await team();
  const { api, organizationId, channelId, ann, ben, write } = place;
  const labels = labelsOf(organizationId);
  const other = await newChannel(organizationId, "telegram");
  const label = await labels.make("Refund");
  let address = 4_711;
  const give = async (isLabeled: boolean, change: object = {}, channel = channelId): Promise<string> => {
    const { id } = await newChat(api, channel, String(address++));
    pass(1_000);
    await write(id);
    await report(id);
    if (Object.keys(change).length > 0) expect((await api("PATCH", `/chats/${id}`, change)).status).toBe(200);
    if (isLabeled) expect((await api("PUT", `/chats/${id}/labels/${label}`)).status).toBe(200);
    return id;
  };
  const ids = {
    first: await give(true),
    plain: await give(false),
    anns: await give(true, { assigneeId: ann }),
    bensPlain: await give(false, { assigneeId: ben }),
    closed: await give(true, { state: "closed" }),
    other: await give(true, {}, other),
  };
  return { ...place, ...labels, other, label, ids };
}

/** The label counts as one that many chats have: they are found in the lists. */
const FREQUENT = "update labels set chats = 5000";

test.each([
  ["few chats", "select 1"],
  ["many chats", FREQUENT],
])(
  "GET /chats lists the chats of a label that %s have, latest activity first, with each of the other filters",
  async (_name, change) => {
    const { api, ids, idsOf, label, ann, channelId, rows } = await desk();
    await rows(change);
    const of = (more = "") => idsOf(`label=${label}${more}`);
    expect(await of()).toEqual([ids.other, ids.closed, ids.anns, ids.first]);
    expect(await of("&channel=telegram")).toEqual([ids.other]);
    expect(await of(`&channel=${channelId}&state=open`)).toEqual([ids.anns, ids.first]);
    expect(await of("&state=closed")).toEqual([ids.closed]);
    expect(await of(`&assignee=${ann}`)).toEqual([ids.anns]);
    expect(await of("&assignee=none")).toEqual([ids.other, ids.closed, ids.first]);
    expect(await of("&assignee=none&state=open&channel=web")).toEqual([ids.first]);
    expect(await of("&unanswered=true")).toEqual([ids.first, ids.anns, ids.other]);
    expect(await of(`&unanswered=true&assignee=${ann}&state=open`)).toEqual([ids.anns]);
    const first = (await api("GET", `/chats?label=${label}&limit=2`)).body;
    expect(first.chats.map(({ id }: Chat) => id)).toEqual([ids.other, ids.closed]);
    expect(first.pagination).toEqual({ limit: 2, hasMore: true, cursor: expect.any(String) });
    expect(await of(`&limit=2&before=${first.pagination.cursor}`)).toEqual([ids.anns, ids.first]);
    const waiting = (await api("GET", `/chats?label=${label}&unanswered=true&limit=1`)).body;
    expect(waiting.pagination).toEqual({ limit: 1, hasMore: true, cursor: expect.any(String) });
    expect(await of(`&unanswered=true&after=${waiting.pagination.cursor}`)).toEqual([ids.anns, ids.other]);
  },
);

test.each([
  ["few chats", "select 1"],
  ["many chats", FREQUENT],
])("a walk of a label that %s have says that a chat moved to its front", async (_name, change) => {
  const { api, ids, label, write, rows } = await desk();
  await rows(change);
  const page = async (more: string) => (await api("GET", `/chats?label=${label}&limit=1${more}`)).body;
  const { pagination } = await page("");
  pass(1_000);
  await write(ids.plain);
  await report(ids.plain);
  const second = await page(`&before=${pagination.cursor}`);
  expect(second.pagination.hasNewer).toBeUndefined();
  await write(ids.first);
  await report(ids.first);
  const third = await page(`&before=${second.pagination.cursor}`);
  expect(third.chats.map(({ id }: Chat) => id)).toEqual([ids.anns]);
  expect(third.pagination).toEqual({ limit: 1, hasMore: false, cursor: null, hasNewer: true });
});

test("a cursor belongs to its label", async () => {
  const { api, ids, label, make } = await desk();
  const { cursor } = (await api("GET", `/chats?label=${label}&limit=1`)).body.pagination;
  const second = await make("Later");
  for (const query of [`label=${second}`, `label=${label}&state=open`, "state=open", "assignee=none"]) {
    expectFaults(await api("GET", `/chats?${query}&before=${cursor}`), "before");
  }
  expectFaults(await api("GET", `/chats?label=${label}&before=${ids.first}`), "before");
  expectFaults(await api("GET", `/chats?label=${label}&page=1`), "page");
  expectFaults(await api("GET", `/chats?label=${label}&after=${cursor}`), "after");
});

test("a label that is not there has no chats: an unknown one, another organization's and a deleted one, at once", async () => {
  const [{ api, label, remove, ids, idsOf, organizationId }, other] = [await desk(), await desk()];
  const nothing = { chats: [], pagination: { limit: 20, hasMore: false, cursor: null } };
  const { cursor } = (await api("GET", `/chats?label=${label}&limit=1`)).body.pagination;
  expect((await remove(label)).body.label.chats).toBe(4);
  for (const id of [label, other.label, newId("lbl", null), "lbl_x", "Refund"]) {
    expect((await api("GET", `/chats?label=${id}`)).body).toEqual(nothing);
    expect((await api("GET", `/chats?label=${id}&unanswered=true&state=open`)).body).toEqual(nothing);
    expect((await admin("GET", `/organizations/${organizationId}/chats?label=${id}`)).body).toEqual(nothing);
  }
  expect((await api("GET", `/chats?label=${label}&before=${cursor}`)).body.chats).toEqual([]);
  expect(await idsOf("")).toContain(ids.first);
  expect(await other.idsOf(`label=${other.label}`)).toHaveLength(4);
});

test("a list follows what is given, taken, renamed and deleted, from the answer on", async () => {
  const { api, ids, idsOf, label, rename } = await desk();
  const of = () => idsOf(`label=${label}`);
  await api("PUT", `/chats/${ids.plain}/labels/${label}`);
  await api("DELETE", `/chats/${ids.closed}/labels/${label}`);
  expect(await of()).toEqual([ids.other, ids.anns, ids.plain, ids.first]);
  const { chats } = (await api("GET", `/chats?label=${label}`)).body;
  expect(new Set(chats.map(({ labels }: Chat) => labels[0]?.name))).toEqual(new Set(["Refund"]));
  await rename(label, "Money back");
  const renamed = (await api("GET", `/chats?label=${label}`)).body.chats;
  expect(renamed.map(({ labels }: Chat) => labels)).toEqual(Array(4).fill([{ id: label, name: "Money back" }]));
  await admin("DELETE", `/chats/${ids.first}`);
  expect(await of()).toEqual([ids.other, ids.anns, ids.plain]);
});

test.each([
  ["label=", "label"],
  ["label=lbl_1&label=lbl_2", "label"],
  [`label=${"x".repeat(65)}`, "label"],
  ["label=lbl_1&contact=x", "label"],
  ["label=lbl_1&search=ada", "label"],
  ["label=lbl_1&scheduled=true", "label"],
])("GET /chats?%s is a 400 that names %s", async (query, path) => {
  const { api } = await team();
  expectFaults(await api("GET", `/chats?${query}`), path);
});

test("an organization without chats has none with a label", async () => {
  const { api } = await team();
  expect((await api("GET", "/chats?label=lbl_1")).body).toEqual({
    chats: [],
    pagination: { limit: 20, hasMore: false, cursor: null },
  });
});

test("a page of a label that 3 of 25,000 chats have reads only these, and of one that half of them have, no more than it examines", async () => {
  const { api, object, channelId, newChat: open, rows, organizationId } = await team();
  await open();
  const [rare = "", frequent = ""] = await labelsOf(organizationId).makeMany(2);
  await rows(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 25000)
    insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at)
    select printf('cht_g%015d', n), '${channelId}', 'adopted', 1, 'contact ' || n, '{}', 1, n from numbers`);
  await rows("update channels set chats = 25001");
  await rows(`insert into chat_labels (label_id, chat_id)
    select '${frequent}', id from chats where active_at < 25001 and active_at % 2 = 0`);
  await rows(`insert into chat_labels (label_id, chat_id)
    select '${rare}', id from chats where active_at in (7, 12000, 24000)`);
  await rows("update labels set chats = (select count(*) from chat_labels where label_id = labels.id)");
  const cost = async (query: string, count: number) => {
    await evictDurableObject(object);
    const each = await rowsRead(object, async () => {
      expect((await api("GET", `/chats?limit=20&${query}`)).body.chats).toHaveLength(count);
    });
    return each.reduce((sum, read) => sum + read, 0);
  };
  const all = await cost("", 20);
  expect(await cost(`label=${rare}`, 3)).toBeLessThan(all);
  // It examines 1,000 more at once, because half of the chats are left out: a row of the index, of the question, and of
  // the label for each.
  expect(await cost(`label=${frequent}`, 20)).toBeLessThan(all + 4_000);
});
