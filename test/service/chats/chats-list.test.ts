import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { newId } from "../../../src/model/id.ts";
import { runAlarm } from "../../support/alarms.ts";
import {
  type Answer,
  admin,
  type Client,
  expectFaults,
  newChannel,
  newChat,
  newOrganization,
  send,
  shortened,
} from "../../support/harness.ts";
import { once } from "../../support/once.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { storedChat } from "../../support/stored.ts";
import { until } from "../../support/until.ts";

/** An organization with chats on a web channel, created one after the other. */
async function newOrganizationWith(count: number) {
  const organization = await newOrganization();
  const chats: Chat[] = [];
  while (chats.length < count) chats.push(await newChat(organization.api, organization.channelId));
  return { ...organization, chats };
}

/** Makes a chat report its activity now, unless its alarm has done so already. */
async function reportActivity(chat: Chat): Promise<void> {
  await runAlarm(env.CHATS.getByName(chat.id));
}

async function ids(api: Client, query = ""): Promise<string[]> {
  return idsOf(await api("GET", `/chats${query}`));
}

function idsOf(answer: Answer): string[] {
  expect(answer.status, answer.text).toBe(200);
  return answer.body.chats.map((chat: Chat) => chat.id);
}

/** Sorts by activity, latest first, then by id, greatest first. */
function latestFirst(chats: Chat[]): string[] {
  const key = (chat: Chat) => `${chat.lastMessageAt ?? chat.createdAt} ${chat.id}`;
  return [...chats].sort((one, other) => (key(one) < key(other) ? 1 : -1)).map((chat) => chat.id);
}

test("an organization without chats gets an empty list", async () => {
  const { api } = await newOrganization();
  const answer = await api("GET", "/chats");
  expect(answer.body).toEqual({
    chats: [],
    pagination: { page: 1, limit: 20, total: 0, totalPages: 0, hasMore: false, cursor: null },
  });
});

test("chats without messages are listed by creation time, newest first", async () => {
  const { api, chats } = await newOrganizationWith(3);
  const answer = await api("GET", "/chats");
  expect(idsOf(answer)).toEqual(latestFirst(chats));
  expect(answer.body.chats).toEqual(expect.arrayContaining(chats));
});

test("a message moves its chat to the top of the list, and sets its time", async () => {
  const { api, chats } = await newOrganizationWith(3);
  const [oldest] = chats as [Chat];
  const message = await send(api, oldest.id);
  await reportActivity(oldest);
  const answer = await api("GET", "/chats");
  expect(answer.body.chats[0]).toEqual({
    ...oldest,
    lastMessageAt: message.createdAt,
    lastMessage: shortened(message),
  });
  expect(idsOf(answer)).toEqual([oldest.id, ...latestFirst(chats.slice(1))]);
});

test("all pages of a list together are the whole list", async () => {
  const { api, chats } = await newOrganizationWith(5);
  const pages = await Promise.all([1, 2, 3, 4].map((page) => api("GET", `/chats?page=${page}&limit=2`)));
  expect(pages.flatMap(idsOf)).toEqual(latestFirst(chats));
  expect(pages.map((page) => page.body.pagination)).toEqual(
    [1, 2, 3, 4].map((page) => ({
      ...{ page, limit: 2, total: 5, totalPages: 3, hasMore: page < 3 },
      cursor: page < 3 ? expect.any(String) : null,
    })),
  );
});

test("pages read with before are the whole list, even if a chat is created meanwhile", async () => {
  const { api, channelId, chats } = await newOrganizationWith(4);
  const first = await api("GET", "/chats?limit=2");
  await newChat(api, channelId);
  const second = await api("GET", `/chats?limit=2&before=${first.body.chats[1].id}`);
  expect([...idsOf(first), ...idsOf(second)]).toEqual(latestFirst(chats));
  expect(second.body.pagination).toEqual({ limit: 2, total: 5, hasMore: false, cursor: null });
});

test("hasMore is true if there are more chats before the page", async () => {
  const { api, chats } = await newOrganizationWith(4);
  const [newest, next] = latestFirst(chats);
  const answer = await api("GET", `/chats?limit=1&before=${newest}`);
  expect(answer.body).toMatchObject({ chats: [{ id: next }], pagination: { limit: 1, total: 4, hasMore: true } });
});

test.each(["whatsapp", "telegram", "web"] as const)("the filter channel=%s selects that kind", async (kind) => {
  const { api, organizationId } = await newOrganization();
  const made: Record<string, string> = {};
  for (const each of ["whatsapp", "telegram", "web"] as const) {
    made[each] = (await newChat(api, await newChannel(organizationId, each), "4915112345")).id;
  }
  const answer = await api("GET", `/chats?channel=${kind}`);
  expect(idsOf(answer)).toEqual([made[kind]]);
  expect(answer.body.pagination.total).toBe(1);
});

test("the filter channel with an id selects that channel's chats", async () => {
  const { api, organizationId, chats, channelId } = await newOrganizationWith(2);
  const other = await newChannel(organizationId, "web");
  const chat = await newChat(api, other);
  expect(await ids(api, `?channel=${other}`)).toEqual([chat.id]);
  expect(await ids(api, `?channel=${channelId}`)).toEqual(latestFirst(chats));
});

test("the filter contact selects an exact address, on all channels or on one", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const other = await newChannel(organizationId, "telegram");
  const web = await newChat(api, channelId, "4915112345");
  const telegram = await newChat(api, other, "4915112345");
  await newChat(api, channelId, "49151123456");
  expect(await ids(api, "?contact=4915112345")).toEqual(latestFirst([web, telegram]));
  expect(await ids(api, `?contact=4915112345&channel=${other}`)).toEqual([telegram.id]);
  expect(await ids(api, "?contact=4915112345&channel=web")).toEqual([web.id]);
  const answer = await api("GET", "/chats?contact=4915112345&limit=1");
  expect(answer.body.pagination).toEqual({
    page: 1,
    limit: 1,
    total: 2,
    totalPages: 2,
    hasMore: true,
    cursor: expect.any(String),
  });
});

test("a chat is found by a further address, and still shows its first address", async () => {
  const { api, organizationId, chats } = await newOrganizationWith(1);
  const [chat] = chats as [Chat];
  await env.ORGANIZATIONS.getByName(organizationId).moveContact(
    chat.channel.id,
    {
      kind: "address",
      from: [chat.contact.address],
      to: ["further"],
      at: Date.now(),
    },
    { same: [], possible: [] },
  );
  const answer = await api("GET", "/chats?contact=further");
  expect(answer.body.chats).toEqual([
    { ...chat, contact: { ...chat.contact, addresses: [chat.contact.address, "further"] } },
  ]);
  expect(await ids(api, `?contact=${chat.contact.address}`)).toEqual([chat.id]);
});

test("before works with the filter channel", async () => {
  const { api, organizationId, channelId, chats } = await newOrganizationWith(2);
  await newChat(api, await newChannel(organizationId, "telegram"), "4915112345");
  const [newest, oldest] = latestFirst(chats);
  expect(await ids(api, `?channel=${channelId}&before=${newest}`)).toEqual([oldest]);
});

test("a contact's chats can be read page by page, and with before", async () => {
  const { api, organizationId } = await newOrganizationWith(2);
  const channels = await Promise.all([1, 2, 3].map(() => newChannel(organizationId, "telegram")));
  const chats = await Promise.all(channels.map((channelId) => newChat(api, channelId, "4915112345")));
  const [first, second, third] = latestFirst(chats);
  const query = "?contact=4915112345&limit=1";
  expect(await ids(api, `${query}&page=2`)).toEqual([second]);
  expect(await ids(api, `${query}&page=3`)).toEqual([third]);
  const answer = await api("GET", `/chats${query}&before=${first}`);
  expect(idsOf(answer)).toEqual([second]);
  expect(answer.body.pagination).toEqual({ limit: 1, total: 3, hasMore: true, cursor: expect.any(String) });
  expect(await ids(api, `${query}&before=${second}`)).toEqual([third]);
  expect(await ids(api, `${query}&before=${third}`)).toEqual([]);
});

test("the filter channel selects nothing if the organization has no such channel", async () => {
  const { api } = await newOrganizationWith(1);
  for (const channel of ["whatsapp", "chn_g000000000000000"]) {
    const answer = await api("GET", `/chats?channel=${channel}`);
    expect(answer.body).toMatchObject({ chats: [], pagination: { total: 0 } });
  }
});

test.each(["%25", "contact-_", "%00", "%27%20or%201=1%20--", "%E0%A4%A"])(
  "contact=%s selects no chat",
  async (text) => {
    const { api } = await newOrganizationWith(1);
    expect(await ids(api, `?contact=${text}`)).toEqual([]);
  },
);

test("a page past 10,000 chats is a 400 that recommends before, and the last valid page is empty", async () => {
  const { api } = await newOrganizationWith(1);
  expect(await ids(api, "?page=500&limit=20")).toEqual([]);
  expect(await ids(api, "?page=10000&limit=1")).toEqual([]);
  for (const query of ["page=501&limit=20", "page=10001&limit=1", "page=101&limit=100", "page=999999999999999"]) {
    const answer = await api("GET", `/chats?${query}`);
    expectFaults(answer, "page");
    expect(answer.body.errors[0].message).toMatch(/before/);
  }
});

/** An organization for tests that only read, or whose requests are refused. */
const shared = once(newOrganization);

test.each([
  ["page=0", "page"],
  ["limit=101", "limit"],
  ["channel=", "channel"],
  ["channel=web&channel=web", "channel"],
  ["contact=", "contact"],
  ["contact=a&contact=b", "contact"],
  ["before=", "before"],
  ["before=cht_g000000000000000", "before"],
  ["before=1", "before"],
  ["page=1&before=cht_g000000000000000", "page"],
])("GET /chats?%s is a 400 that names %s", async (query, path) => {
  const { api } = await shared();
  expectFaults(await api("GET", `/chats?${query}`), path);
});

test("a message's id is not a valid cursor for chats", async () => {
  const { api, chats } = await newOrganizationWith(1);
  const message = await send(api, (chats[0] as Chat).id);
  for (const id of [message.id, newId("cht", null)]) expectFaults(await api("GET", `/chats?before=${id}`), "before");
});

test.each(["", "&page=1", "&limit=5", "&before=:chat"])(
  "GET /chats with after is a 400 that names it%s",
  async (more) => {
    const { api, chats } = await newOrganizationWith(1);
    const { id } = chats[0] as Chat;
    expectFaults(await api("GET", `/chats?after=${id}${more.replace(":chat", id)}`), "after");
  },
);

test("an empty filter is a 400 that says so", async () => {
  const { api } = await newOrganization();
  const answer = await api("GET", "/chats?channel=&contact=");
  expect(answer.body.errors).toEqual([
    { path: "channel", message: "must not be empty" },
    { path: "contact", message: "must not be empty" },
  ]);
});

test("a deleted channel leaves a list of all chats as cheap as it was", async () => {
  const { api, organizationId } = await newOrganizationWith(3);
  const channels = ["web", "web", "web", "web", "web", "web", "telegram"] as const;
  let deleted = "";
  for (const kind of channels) deleted = await newChannel(organizationId, kind);
  const { id: gone } = await newChat(api, deleted, "4711");
  const object = env.ORGANIZATIONS.getByName(organizationId);
  /** The least of three reads: what the object does meanwhile counts too. */
  const statements = async (from: number) => {
    const counts: number[] = [];
    for (const limit of [from, from + 1, from + 2])
      counts.push((await rowsRead(object, () => ids(api, `?limit=${limit}`))).length);
    return Math.min(...counts);
  };
  const before = await statements(51);
  expect((await admin("DELETE", `/channels/${deleted}`)).status).toBe(200);
  await until(
    "the channel's chat is gone",
    () => storedChat(organizationId, gone),
    (chat) => !chat,
  );
  expect(await ids(api, "?limit=60")).toHaveLength(3);
  expect(await statements(61)).toBeLessThanOrEqual(before + 1);
});
