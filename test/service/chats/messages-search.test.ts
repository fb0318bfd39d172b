import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { MAX_EXAMINED_TEXT } from "../../../src/chats/search-budget.ts";
import { MAX_PAGE_TEXT } from "../../../src/model/list-page.ts";
import type { Message } from "../../../src/model/message.ts";
import { foldingSteps } from "../../support/folding-steps.ts";
import {
  type Answer,
  admin,
  call,
  expectError,
  expectFaults,
  newChat,
  newKey,
  newOrganization,
  newTemplate,
  send,
} from "../../support/harness.ts";
import { once } from "../../support/once.ts";
import { until } from "../../support/until.ts";
import { writeAsContact } from "./inbound.ts";
import { fill, idsOf, walk } from "./many-messages.ts";

const TEXTS = [
  "Where is my order?",
  "Die Straße ist überall gesperrt",
  "مرحبا، أين طلبي؟",
  "Done 👍🏽 thanks ❤️",
  "100% of _all_ 'quoted' \"words\" \\ and more",
  "Your ORDER is on its way",
];

async function place() {
  const organization = await newOrganization();
  const { api, channelId } = organization;
  const { id: chatId } = await newChat(api, channelId);
  const ids: string[] = [];
  for (const content of TEXTS) ids.push((await send(api, chatId, { content })).id);
  const search = (text: string, more = "") =>
    api("GET", `/chats/${chatId}/messages?search=${encodeURIComponent(text)}${more}`);
  return { ...organization, chatId, ids, search };
}

/** For tests that only read. */
const shared = once(place);

test.each([
  ["order", [5, 0]],
  ["ORDER IS", [5]],
  ["strasse", [1]],
  ["STRAßE", [1]],
  ["ÜBERALL", [1]],
  ["u\u0308berall", [1]],
  ["uberall", [1]],
  ["überąll", [1]],
  ["طلبي", [2]],
  ["أين", [2]],
  ["👍", [3]],
  ["s ❤", [3]],
  ["❤️", [3]],
  ["0%", [4]],
  ["%%", []],
  ["_all_", [4]],
  ["_ll", []],
  ["'quoted'", [4]],
  ['"words"', [4]],
  ["' or 1=1 --", []],
  ["\\ and", [4]],
  ["rder?", [0]],
  ["*rder", []],
  ["is", [5, 1, 0]],
])("a search for %s finds the messages that contain it, newest first", async (text, expected) => {
  const { ids, search } = await shared();
  const answer = await search(text);
  expect(idsOf(answer)).toEqual(expected.map((at) => ids[at]));
  expect(answer.body.pagination).toEqual({ limit: 20, hasMore: false, cursor: null });
});

test("a search reads what was delivered: a filled template, not its placeholder text", async () => {
  const { api, organizationId, chatId, search } = await place();
  const templateId = await newTemplate(organizationId, "Parcel {{number}} is here");
  const sent = await send(api, chatId, { content: "fallback", templateId, variables: { number: 4711 } });
  expect(idsOf(await search("parcel 4711"))).toEqual([sent.id]);
  expect(idsOf(await search("fallback"))).toEqual([]);
});

test("the cursor continues a search, and the other filters narrow it", async () => {
  const { organizationId, chatId, ids, search } = await place();
  const inbound = await writeAsContact(organizationId, chatId);
  const first = await search("order", "&limit=1");
  expect(idsOf(first)).toEqual([ids[5]]);
  expect(first.body.pagination).toEqual({ limit: 1, hasMore: true, cursor: ids[5] });
  const second = await search("order", `&limit=1&before=${first.body.pagination.cursor}`);
  expect(idsOf(second)).toEqual([ids[0]]);
  expect(second.body.pagination).toEqual({ limit: 1, hasMore: false, cursor: null });
  const text = inbound.text.slice(0, 5);
  expect(idsOf(await search(text, "&direction=INBOUND"))).toEqual([inbound.id]);
  expect(idsOf(await search(text, "&direction=INBOUND&status=SENT"))).toEqual([]);
  expect(idsOf(await search("order", "&type=TEXT&status=SENT&direction=OUTBOUND"))).toEqual([ids[5], ids[0]]);
});

test("a redacted message is not found", async () => {
  const { chatId, ids, search } = await place();
  expect((await admin("POST", `/chats/${chatId}/messages/${ids[0]}/redact`)).status).toBe(200);
  expect(idsOf(await search("order"))).toEqual([ids[5]]);
});

test.each([
  ["a", "search"],
  ["x".repeat(101), "search"],
  ["\u200b\u200b", "search"],
  ["  ", "search"],
])("a search for %j is a 400", async (text, path) => {
  const { search } = await shared();
  expectFaults(await search(text), path);
});

test.each([
  ["search=", "search"],
  ["search=is&search=is", "search"],
  ["search=is&page=1", "page"],
  ["search=is&after=:id", "after"],
  ["search=is&before=msg_g0000000000000009", "before"],
])("GET /chats/{id}/messages?%s is a 400 that names %s", async (query, path) => {
  const { api, chatId, ids } = await shared();
  expectFaults(await api("GET", `/chats/${chatId}/messages?${query.replace(":id", ids[0] as string)}`), path);
});

test("a search of 100 characters is accepted", async () => {
  const { search } = await place();
  expect(idsOf(await search("x".repeat(100)))).toEqual([]);
});

test("a search examines at most 10,000 messages, goes on behind them, and writes no row", async () => {
  const { api, chatId, ids, search } = await place();
  const object = env.CHATS.getByName(chatId);
  const [sent] = (await api("GET", `/chats/${chatId}/messages?limit=1`)).body.messages as [Message];
  const written = () =>
    runInDurableObject(object, (_object, { storage }) => storage.sql.exec("select total_changes() as n").one().n);
  const others = Array.from({ length: 25_000 - TEXTS.length }, (_, n) => ({ text: `Number ${n}` }));
  await fill(chatId, sent, others);
  const before = await written();
  const pages = await walk(chatId, (more) => search("order", `&limit=1${more}`));
  expect(pages).toEqual([
    { ids: [], hasMore: true },
    { ids: [], hasMore: true },
    { ids: [ids[5]], hasMore: true },
    { ids: [ids[0]], hasMore: false },
  ]);
  expect(await written()).toBe(before);
});

/** A text, in the two fields that have one. */
const both = (text: string) => ({ text, content: text });

test.each([
  ["marks", "\u0301\u0323".repeat(2_000), 2, 150],
  ["accents", "ễ".repeat(4_000), 4, 150],
  ["characters that become eighteen", "\ufdfa".repeat(4_000), 20, 50],
])("a search of messages full of %s lets others in after 128 KiB of text", async (_name, text, least, count) => {
  const { api, chatId, ids, search } = await place();
  const [first] = (await api("GET", `/chats/${chatId}/messages?limit=1`)).body.messages as Message[];
  await fill(chatId, first as Message, Array(count).fill(both(`x${text}`)));
  const steps = await foldingSteps(async () => expect(idsOf(await search("uberall"))).toEqual([ids[1]]));
  expect(steps.length).toBeGreaterThan(least);
  expect(Math.max(...steps)).toBeGreaterThan(500);
  for (const work of steps) expect(work).toBeLessThan(131_072 + 2 * 73_000);
});

test("a page of a search ends after 4 MiB of text, and its cursor goes on behind it", async () => {
  const { api, chatId, ids, search } = await place();
  const [first] = (await api("GET", `/chats/${chatId}/messages?limit=1`)).body.messages as Message[];
  await fill(chatId, first as Message, Array(80).fill(both("\ufdfa".repeat(4_000))));
  const page = await search("order");
  expect(page.body.messages).toEqual([]);
  expect(page.body.pagination.hasMore).toBe(true);
  expect(idsOf(await search("order", `&before=${page.body.pagination.cursor}`))).toEqual([ids[5], ids[0]]);
});

test("searches of one caller at a time count in full until they end, and no other caller's wait", async () => {
  const { api, organizationId, channelId, chatId, search } = await place();
  const [first] = (await api("GET", `/chats/${chatId}/messages?limit=1`)).body.messages as Message[];
  await fill(chatId, first as Message, [both("\ufdfa".repeat(4_000)), both("\ufdfa".repeat(4_000))]);
  const { secret } = await newKey(organizationId);
  const open = Promise.withResolvers<void>();
  let held = 0;
  const wait = scheduler.wait.bind(scheduler);
  vi.spyOn(scheduler, "wait").mockImplementation(async (ms, ...more) => {
    if (ms !== 0) return wait(ms, ...more);
    held++;
    await open.promise;
  });
  const count = MAX_EXAMINED_TEXT / MAX_PAGE_TEXT;
  const running = Array.from({ length: count }, (_, n) => search(`text ${n}`));
  try {
    await until(
      "the searches are held",
      () => held,
      (seen) => seen === count,
    );
    const refused = await search("one more");
    expectError(refused, 429, "rate_limited");
    expect(refused.headers.get("Retry-After")).toBe("1");
    const other = await newChat(api, channelId);
    const headers = { Authorization: `Bearer ${secret}` };
    expect((await call("GET", `/api/v1/chats/${other.id}/messages?search=one`, { headers })).status).toBe(200);
  } finally {
    open.resolve();
    for (const answer of await Promise.all(running)) expect(answer.status, answer.text).toBe(200);
    vi.restoreAllMocks();
  }
  // What they did not examine is given back.
  expect((await search("one more")).status).toBe(200);
});

test("a chat that is deleted during a search is a 404", async () => {
  const { api, chatId, search } = await place();
  const [first] = (await api("GET", `/chats/${chatId}/messages?limit=1`)).body.messages as Message[];
  await fill(chatId, first as Message, Array(200).fill(both("ễ".repeat(4_000))));
  let isBegun = false;
  let deleted: Answer | undefined;
  const wait = scheduler.wait.bind(scheduler);
  vi.spyOn(scheduler, "wait").mockImplementation(async (ms) => {
    if (ms === 0 && !isBegun) {
      isBegun = true;
      deleted = await admin("DELETE", `/chats/${chatId}`);
    }
    return wait(ms);
  });
  try {
    expectError(await search("order"), 404, "chat_not_found");
    expect(deleted?.status).toBe(200);
  } finally {
    vi.restoreAllMocks();
  }
});
