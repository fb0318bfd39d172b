import { afterEach, expect, test, vi } from "vitest";
import type { FollowedEvent } from "../../src/client/event.ts";
import type { Chat } from "../../src/web/console/api.ts";
import { type ApiRequest, createApi } from "../../src/web/console/api-client.ts";
import { ChatListStore } from "../../src/web/console/inbox/chat-list-store.ts";
import { ALL_CHATS, type Filter } from "../../src/web/console/inbox/chat-rows.ts";
import { Together } from "../../src/web/console/inbox/together.ts";

const at = (n: number) => new Date(Date.parse("2026-11-20T10:00:00.000Z") + n * 1_000).toISOString();

/** The nth chat, whose newest message came n seconds after the first chat's. */
const chat = (n: number): Chat => ({
  id: `cht_${n}`,
  channel: { id: "chn_1", kind: "web", name: "Site" },
  contact: { address: `user-${n}`, name: null },
  metadata: {},
  createdAt: at(n),
  lastMessageAt: at(n),
  lastMessage: null,
  unansweredSince: null,
  nextScheduledAt: null,
  readUpTo: null,
  assigneeId: null,
});

const sent = (n: number, seconds: number): FollowedEvent =>
  ({
    type: "message.created",
    chatId: `cht_${n}`,
    channelId: "chn_1",
    data: { seq: seconds, message: { id: "msg_1", seq: seconds, text: "Hi", createdAt: at(seconds), status: "SENT" } },
  }) as unknown as FollowedEvent;

/** The list of an organization with so many chats. It lists the newest first, whatever the view. */
function inbox(count: number, filter: Partial<Filter> = {}) {
  const asked: string[] = [];
  const answerTo = async ({ path }: ApiRequest) => {
    asked.push(path.split("?")[0] as string);
    const [id] = /cht_\d+$/.exec(path) ?? [];
    if (id) return { chat: chat(Number(id.slice(4))) };
    const before = Number(/before=cht_(\d+)/.exec(path)?.[1] ?? count);
    const chats = Array.from({ length: Math.min(50, before) }, (_, n) => chat(before - 1 - n));
    return { chats, pagination: { limit: 50, total: count, hasMore: before > 50 } };
  };
  return { store: new ChatListStore(createApi(answerTo), { ...ALL_CHATS, ...filter }), asked };
}

afterEach(() => void vi.useRealTimers());

test("messages of many chats beside the list read one page of it, and not each chat", async () => {
  vi.useFakeTimers();
  const { store, asked } = inbox(1_000);
  await store.load();
  asked.length = 0;
  store.take(Array.from({ length: 100 }, (_, n) => sent(n, 2_000 + n)));
  await vi.advanceTimersByTimeAsync(1_900);
  store.take(Array.from({ length: 100 }, (_, n) => sent(100 + n, 2_200 + n)));
  await vi.advanceTimersByTimeAsync(1_900);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatch(/\/chats$/);
});

test("a few chats beside the list are asked for one by one", async () => {
  const { store, asked } = inbox(1_000);
  await store.load();
  store.take([sent(1, 2_000), sent(2, 2_001)]);
  await expect.poll(() => asked.filter((path) => /cht_\d+$/.test(path))).toHaveLength(2);
});

test("the unanswered list asks only for chats that a contact wrote in, and for none that belong to a page not loaded", async () => {
  const { store, asked } = inbox(10, { view: "unanswered" });
  await store.load();
  asked.length = 0;
  const received = { ...sent(20, 2_000), type: "message.received" } as FollowedEvent;
  store.take([sent(21, 2_001), received]);
  expect(asked).toEqual([expect.stringMatching(/cht_20$/)]);
  const many = inbox(1_000, { view: "unanswered" });
  await many.store.load();
  many.asked.length = 0;
  many.store.take([received]);
  expect(many.asked).toEqual([]);
});

test("the list of scheduled chats asks for none that only got a message", async () => {
  const { store, asked } = inbox(10, { view: "scheduled" });
  await store.load();
  asked.length = 0;
  const scheduled = { ...sent(21, 2_001), type: "message.scheduled" } as FollowedEvent;
  store.take([sent(20, 2_000), scheduled]);
  expect(asked).toEqual([expect.stringMatching(/cht_21$/)]);
});

test("many chats that become unanswered at once are read as a page, and there may be more", async () => {
  vi.useFakeTimers();
  const chats = { count: 10 };
  const asked: string[] = [];
  const answerTo = async ({ path }: ApiRequest) => {
    asked.push(path);
    const shown = Array.from({ length: Math.min(50, chats.count) }, (_, n) => ({ ...chat(n), unansweredSince: at(n) }));
    const hasMore = chats.count > 50;
    return { chats: shown, pagination: { limit: 50, hasMore, cursor: hasMore ? "cht_49" : null } };
  };
  const store = new ChatListStore(createApi(answerTo), { ...ALL_CHATS, view: "unanswered" });
  await store.load();
  chats.count = 60;
  asked.length = 0;
  const written = Array.from({ length: 50 }, (_, n) => ({ ...sent(10 + n, 3_000), type: "message.received" }));
  store.take(written as FollowedEvent[]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked).toHaveLength(1);
  expect(store.rows.value).toHaveLength(50);
  expect(store.hasMore.value).toBe(true);
});

test("rows that newer chats pushed far below go, and come back as the next page", async () => {
  const { store } = inbox(200);
  await store.load();
  store.openId = "cht_150";
  for (let n = 200; n < 260; n++) store.take([{ ...sent(n, n), data: { chat: chat(n) } } as unknown as FollowedEvent]);
  const ids = () => store.rows.value.map(({ id }) => id);
  expect(ids().slice(0, 2)).toEqual(["cht_259", "cht_258"]);
  expect(ids().length).toBeLessThanOrEqual(101);
  expect(ids()).toContain("cht_150");
  const last = ids()
    .filter((id) => id !== "cht_150")
    .at(-1);
  await store.more();
  expect(ids()[ids().indexOf(last as string) + 1]).toBe(`cht_${Number(last?.slice(4)) - 1}`);
});

test("what happens to a chat at once is one change of the list, and the newest counts", async () => {
  const { store } = inbox(10);
  await store.load();
  let changes = -1;
  store.rows.subscribe(() => void changes++);
  store.take([sent(3, 100), sent(5, 101), sent(3, 102)]);
  expect(changes).toBe(1);
  expect(store.rows.value.slice(0, 2).map(({ id, lastMessage }) => [id, lastMessage?.seq])).toEqual([
    ["cht_3", 102],
    ["cht_5", 101],
  ]);
});

test("the first events are taken at once, and what else comes right then together", async () => {
  vi.useFakeTimers();
  const taken: number[][] = [];
  const events = new Together<number>({ everyMs: 200, atOnce: 2 }, (items) => taken.push(items));
  for (const n of [1, 2, 3, 4]) events.add(n);
  expect(taken).toEqual([[1], [2]]);
  await vi.advanceTimersByTimeAsync(200);
  expect(taken).toEqual([[1], [2], [3, 4]]);
  for (const n of [5, 6, 7]) events.add(n);
  events.stop();
  await vi.advanceTimersByTimeAsync(400);
  expect(taken).toEqual([[1], [2], [3, 4], [5], [6]]);
});
