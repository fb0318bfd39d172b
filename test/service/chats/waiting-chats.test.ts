import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { printCursor } from "../../../src/organizations/object/chat-cursor.ts";
import {
  type Answer,
  admin,
  type Client,
  expectFaults,
  newChannel,
  newChat,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { report, writeAsContact } from "./inbound.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

/** An organization with chats on a web channel. Their contacts wrote a second apart, in this order. */
async function unansweredChats(count: number) {
  const organization = await newOrganization();
  const chats: Chat[] = [];
  while (chats.length < count) chats.push(await unansweredChat(organization, organization.channelId));
  return { ...organization, chats, ids: chats.map(({ id }) => id) };
}

async function unansweredChat(
  { api, organizationId }: { api: Client; organizationId: string },
  channelId: string,
  address?: string,
): Promise<Chat> {
  const chat = await newChat(api, channelId, address);
  vi.setSystemTime(Date.now() + 1_000);
  await writeAsContact(organizationId, chat.id);
  await report(chat.id);
  return chat;
}

function idsOf(answer: Answer): string[] {
  expect(answer.status, answer.text).toBe(200);
  return answer.body.chats.map(({ id }: Chat) => id);
}

/** Makes the chats report that their next scheduled messages are due at these times. */
async function schedule(organizationId: string, dueAt: Record<string, number | null>): Promise<void> {
  const object = env.ORGANIZATIONS.getByName(organizationId);
  for (const [chatId, nextScheduledAt] of Object.entries(dueAt)) {
    const life = (await object.identity(chatId))?.life ?? 0;
    const state = {
      lastMessageAt: null,
      lastMessage: null,
      unansweredSince: null,
      readUpTo: null,
      assigneeId: null,
      details: null,
      attempts: {},
    };
    const number = Date.now();
    vi.setSystemTime(number + 1);
    const told = { chatId, life, number, events: null, webhooks: null, depth: 0, oldest: null };
    expect(await object.report({ ...told, ...state, nextScheduledAt })).toMatchObject({ number });
  }
}

test("unanswered=true lists the chats with an unanswered message, longest wait first", async () => {
  const { api, organizationId, channelId, ids } = await unansweredChats(3);
  await newChat(api, channelId);
  await writeAsContact(organizationId, ids[0] as string, "Hello?");
  await report(ids[0] as string);
  const answer = await api("GET", "/chats?unanswered=true");
  expect(idsOf(answer)).toEqual(ids);
  expect(answer.body.pagination).toEqual({ limit: 20, total: 3, hasMore: false, cursor: null });
  const waits = answer.body.chats.map(({ unansweredSince }: Chat) => unansweredSince);
  expect(waits).toEqual(waits.toSorted((one: string, other: string) => (one < other ? -1 : 1)));
  expect(waits[0]).not.toBeNull();
});

test("every message to the contact takes its chat off the list, and the contact's next message puts it on again", async () => {
  const { api, organizationId, ids } = await unansweredChats(2);
  const [first, second] = ids as [string, string];
  await send(api, first);
  await report(first);
  expect((await api("GET", `/chats/${first}`)).body.chat.unansweredSince).toBeNull();
  const after = await api("GET", "/chats?unanswered=true");
  expect(idsOf(after)).toEqual([second]);
  expect(after.body.pagination.total).toBe(1);
  vi.setSystemTime(Date.now() + 1_000);
  const { createdAt } = await writeAsContact(organizationId, first);
  expect((await api("GET", `/chats/${first}`)).body.chat.unansweredSince).toBe(createdAt);
  await report(first);
  expect(idsOf(await api("GET", "/chats?unanswered=true"))).toEqual([second, first]);
});

test("scheduled=true lists the chats with a scheduled message, the next one due first", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const [one, two, three] = [
    await newChat(api, channelId),
    await newChat(api, channelId),
    await newChat(api, channelId),
  ];
  const soon = Date.now() + 60_000;
  await schedule(organizationId, { [one.id]: soon + 2, [two.id]: soon + 1, [three.id]: soon });
  await schedule(organizationId, { [three.id]: null });
  const answer = await api("GET", "/chats?scheduled=true");
  expect(idsOf(answer)).toEqual([two.id, one.id]);
  expect(answer.body.chats[0].nextScheduledAt).toBe(new Date(soon + 1).toISOString());
  expect(answer.body.pagination).toEqual({ limit: 20, total: 2, hasMore: false, cursor: null });
});

test("a chat shows when its next scheduled message is due, and is listed until none is scheduled", async () => {
  const { api, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const [soon, late] = [60_000, 120_000].map((ms) => new Date(Date.now() + ms).toISOString());
  const last = await send(api, id, { scheduledAt: late });
  const first = await send(api, id, { scheduledAt: soon });
  await report(id);
  for (const [message, nextScheduledAt] of [
    [first, soon],
    [last, late],
  ] as const) {
    expect((await api("GET", `/chats/${id}`)).body.chat).toMatchObject({ nextScheduledAt, lastMessage: null });
    const answer = await api("GET", "/chats?scheduled=true");
    expect(answer.body).toMatchObject({ chats: [{ id, nextScheduledAt }], pagination: { total: 1 } });
    expect((await admin("POST", `/chats/${id}/messages/${message.id}/redact`)).status).toBe(200);
    await report(id);
  }
  expect((await api("GET", `/chats/${id}`)).body.chat.nextScheduledAt).toBeNull();
  expect((await api("GET", "/chats?scheduled=true")).body).toMatchObject({ chats: [], pagination: { total: 0 } });
});

test("pages that follow the cursor are the whole list, even if a chat is answered meanwhile", async () => {
  const { api, ids } = await unansweredChats(5);
  const first = await api("GET", "/chats?unanswered=true&limit=2");
  expect(first.body.pagination).toMatchObject({ limit: 2, total: 5, hasMore: true });
  // The cursor is the place of this chat.
  await send(api, ids[1] as string);
  await report(ids[1] as string);
  const next = (answer: Answer) => api("GET", `/chats?unanswered=true&limit=2&after=${answer.body.pagination.cursor}`);
  const second = await next(first);
  const third = await next(second);
  expect([first, second, third].flatMap(idsOf)).toEqual(ids);
  expect(third.body.pagination).toEqual({ limit: 2, total: 4, hasMore: false, cursor: null });
});

test.each(["unanswered", "scheduled"])("a cursor of another organization's list of %s chats is a 400", async (list) => {
  const [ours, theirs] = [await unansweredChats(2), await unansweredChats(2)];
  // Whose messages are scheduled wait for no answer here.
  for (const { organizationId, ids } of list === "scheduled" ? [ours, theirs] : []) {
    await schedule(organizationId, Object.fromEntries(ids.map((id, n) => [id, Date.now() + 60_000 * (n + 1)])));
  }
  const { cursor } = (await theirs.api("GET", `/chats?${list}=true&limit=1`)).body.pagination;
  expect(idsOf(await theirs.api("GET", `/chats?${list}=true&after=${cursor}`))).toEqual([theirs.ids[1]]);
  expectFaults(await ours.api("GET", `/chats?${list}=true&after=${cursor}`), "after");
  expectFaults(await ours.api("GET", `/chats?${list}=true&contact=nobody&after=${cursor}`), "after");
  const other = list === "unanswered" ? "scheduled" : "unanswered";
  expectFaults(await theirs.api("GET", `/chats?${other}=true&after=${cursor}`), "after");
});

test("chats that wait equally long are listed by id", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const ids: string[] = [];
  while (ids.length < 5) ids.push((await newChat(api, channelId)).id);
  const soon = Date.now() + 60_000;
  await schedule(organizationId, Object.fromEntries(ids.map((id) => [id, soon])));
  const first = await api("GET", "/chats?scheduled=true&limit=3");
  const second = await api("GET", `/chats?scheduled=true&limit=3&after=${first.body.pagination.cursor}`);
  expect([...idsOf(first), ...idsOf(second)]).toEqual(ids.toSorted());
});

test("the filters channel and contact select among the chats that wait, without a total", async () => {
  const place = await newOrganization();
  const { api, organizationId, channelId } = place;
  const telegram = await newChannel(organizationId, "telegram");
  const web = await unansweredChat(place, channelId, "4711");
  const other = await unansweredChat(place, telegram, "4711");
  const third = await unansweredChat(place, telegram, "4712");
  await newChat(api, await newChannel(organizationId, "telegram"), "4711");
  for (const [query, chats] of [
    ["channel=telegram", [other, third]],
    [`channel=${channelId}`, [web]],
    ["channel=whatsapp", []],
    ["contact=4711", [web, other]],
    [`contact=4711&channel=${telegram}`, [other]],
    ["contact=nobody", []],
  ] as const) {
    const answer = await api("GET", `/chats?unanswered=true&${query}`);
    expect(idsOf(answer), query).toEqual(chats.map(({ id }) => id));
    expect(answer.body.pagination).toEqual({ limit: 20, hasMore: false, cursor: null });
  }
  for (const filter of ["contact=4711", "channel=telegram"]) {
    const first = await api("GET", `/chats?unanswered=true&limit=1&${filter}`);
    const { cursor } = first.body.pagination;
    const second = await api("GET", `/chats?unanswered=true&limit=1&${filter}&after=${cursor}`);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(
      filter === "contact=4711" ? [web.id, other.id] : [other.id, third.id],
    );
    expect(second.body.pagination.cursor).toBeNull();
  }
});

test("a deleted chat and the chats of a deleted channel are neither listed nor counted", async () => {
  const place = await unansweredChats(2);
  const { api, organizationId, ids } = place;
  const other = await newChannel(organizationId, "web");
  await unansweredChat(place, other);
  expect((await admin("DELETE", `/chats/${ids[0]}`)).status).toBe(200);
  await env.ORGANIZATIONS.getByName(organizationId).closeChannel(organizationId, other);
  const answer = await api("GET", "/chats?unanswered=true");
  expect(idsOf(answer)).toEqual([ids[1]]);
  expect(answer.body.pagination.total).toBe(1);
});

test("an organization without chats has empty lists of waiting chats", async () => {
  const { api } = await newOrganization();
  const empty = { chats: [], pagination: { limit: 20, total: 0, hasMore: false, cursor: null } };
  expect((await api("GET", "/chats?unanswered=true")).body).toEqual(empty);
  expect((await api("GET", "/chats?scheduled=true")).body).toEqual(empty);
  const { pagination } = (await api("GET", "/chats?scheduled=true&channel=web")).body;
  expect(pagination).toEqual({ limit: 20, hasMore: false, cursor: null });
});

test("the operator lists the chats that wait like a client", async () => {
  const { api, organizationId } = await unansweredChats(2);
  const answer = await admin("GET", `/organizations/${organizationId}/chats?unanswered=true`);
  expect(answer.body).toEqual((await api("GET", "/chats?unanswered=true")).body);
});

test("the first page is sent again only if something changed", async () => {
  const { api, ids } = await unansweredChats(1);
  const first = await api("GET", "/chats?unanswered=true");
  const headers = { "If-None-Match": first.headers.get("ETag") ?? "" };
  expect((await api("GET", "/chats?unanswered=true", undefined, headers)).status).toBe(304);
  expect(idsOf(await api("GET", "/chats?scheduled=true"))).toEqual([]);
  expect(idsOf(await api("GET", "/chats"))).toEqual(ids);
});

test.each([
  ["unanswered=false", "unanswered"],
  ["unanswered=", "unanswered"],
  ["unanswered=1", "unanswered"],
  ["scheduled=yes", "scheduled"],
  ["unanswered=true&unanswered=true", "unanswered"],
  ["unanswered=true&scheduled=true", "scheduled"],
  ["unanswered=true&page=1", "page"],
  ["scheduled=true&before=cht_g000000000000000", "before"],
  ["unanswered=true&after=cht_g000000000000000", "after"],
  ["scheduled=true&after=Vx3kQ2a.cht_g00", "after"],
  ["unanswered=true&after=", "after"],
  ["unanswered=true&limit=101", "limit"],
])("GET /chats?%s is a 400 that names %s", async (query, path) => {
  const { api, channelId } = await newOrganization();
  await newChat(api, channelId);
  expectFaults(await api("GET", `/chats?${query}`), path);
});

/** Fills an organization's object with unanswered chats. Every hundredth is of the channel, the others of another one. */
async function fill(organizationId: string, channelId: string, count: number): Promise<void> {
  await runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) => {
    storage.sql.exec(
      `insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at, unanswered_since)
       with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?)
       select 'cht_g' || printf('%015d', n), iif(n % 100 = 0, ?, ?), 'adopted', n, 'a' || n, '{}', n, n, n from numbers`,
      count,
      channelId,
      storage.sql.exec<{ id: string }>("select id from channels where kind = 'web'").one().id,
    );
    storage.sql.exec("update channels set chats = ?, unanswered = ? where kind = 'web'", count, count);
  });
}

test("among 100,000 unanswered chats, a page reads little more than its own rows, wherever it is", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  await newChat(api, channelId);
  await fill(organizationId, channelId, 100_000);
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const place = { at: 50_000, id: "cht_g000000000050000" };
  const middle = printCursor(organizationId, { waiting: "unanswered" }, { place, start: 0, hasNewer: false });
  for (const after of ["", `&after=${middle}`]) {
    const rows = await rowsRead(object, async () => {
      const answer = await api("GET", `/chats?unanswered=true&limit=50${after}`);
      expect(answer.body.pagination).toMatchObject({ total: 100_000, hasMore: true });
      expect(answer.body.chats).toHaveLength(50);
    });
    expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThan(2 * 50 + 20);
  }
});

test("a filtered page examines at most 10,000 chats, and its cursor goes on behind them", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  await newChat(api, channelId);
  const telegram = await newChannel(organizationId, "telegram");
  await newChat(api, telegram, "4711");
  await fill(organizationId, telegram, 30_000);
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const found: string[] = [];
  for (let [cursor, pages] = ["", 1]; pages <= 4; pages++) {
    let answer: Answer | undefined;
    const rows = await rowsRead(object, async () => {
      answer = await api("GET", `/chats?unanswered=true&channel=telegram&limit=100${cursor && `&after=${cursor}`}`);
    });
    expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThan(10_300);
    found.push(...idsOf(answer as Answer));
    cursor = answer?.body.pagination.cursor ?? "";
    if (cursor === "") break;
  }
  expect(found).toHaveLength(300);
  const none = await api("GET", "/chats?unanswered=true&channel=telegram&limit=100&contact=a1");
  expect(idsOf(none)).toEqual([]);
});
