import { expect, test } from "vitest";
import { ParleyError } from "../../src/client/error.ts";
import type { FollowedEvent } from "../../src/client/event.ts";
import { type ApiRequest, createApi } from "../../src/web/console/api-client.ts";
import { ConversationStore } from "../../src/web/console/inbox/conversation-store.ts";
import { chatRow } from "./chat-row.ts";

const chat = (assigneeId: string | null) => chatRow("cht_1", { assigneeId });

test("a chat that somebody else took before it was opened is shown as theirs, also before its messages are there", async () => {
  // The list's row is older than what happened.
  const answerTo = async ({ method, path }: ApiRequest) => {
    if (method === "PATCH") throw new ParleyError("Another one", { status: 409, code: "chat_reassigned" });
    if (path.endsWith("/cht_1")) return { chat: chat("mbr_2") };
    return { messages: [], pagination: { hasMore: false } };
  };
  const store = new ConversationStore(createApi(answerTo), "cht_1", chat(null), () => {});
  expect(await store.assign("mbr_1", null)).toBe(false);
  expect(store.chat.value?.assigneeId).toBe("mbr_2");
});

test("what happened stays when the answer to an earlier question comes after it", async () => {
  const waiting = {
    ...chat(null),
    lastMessageAt: "2026-11-20T10:00:00.000Z",
    unansweredSince: "2026-11-20T10:00:00.000Z",
  };
  const late = Promise.withResolvers<void>();
  const answerTo = async ({ path }: ApiRequest) => {
    if (!path.endsWith("/cht_1")) return { messages: [], pagination: { hasMore: false } };
    await late.promise;
    return { chat: waiting };
  };
  const store = new ConversationStore(createApi(answerTo), "cht_1", waiting, () => {});
  const loaded = store.load(null);
  const answered = { ...waiting, unansweredSince: null };
  store.take({ type: "chat.updated", chatId: "cht_1", data: { chat: answered } } as unknown as FollowedEvent);
  late.resolve();
  await loaded;
  expect(store.chat.value?.unansweredSince).toBeNull();
});

test("a change stays when the answer to an earlier question comes after it", async () => {
  let stored = chat(null);
  const late = Promise.withResolvers<void>();
  let asked = 0;
  const answerTo = async ({ method, path }: ApiRequest) => {
    if (method === "PATCH") stored = chat("mbr_1");
    if (!path.endsWith("/cht_1")) return { messages: [], pagination: { hasMore: false } };
    const answer = { chat: stored };
    if (method === "GET" && ++asked === 1) await late.promise;
    return answer;
  };
  const shown: (string | null)[] = [];
  const store = new ConversationStore(createApi(answerTo), "cht_1", chat(null), (one) => shown.push(one.assigneeId));
  const loaded = store.load(null);
  expect(await store.assign("mbr_1", null)).toBe(true);
  late.resolve();
  await loaded;
  expect(shown).toEqual(["mbr_1", "mbr_1"]);
  expect(store.chat.value?.assigneeId).toBe("mbr_1");
});

test("two acts whose answers come in the other order both stay", async () => {
  const late = Promise.withResolvers<void>();
  const since = "2026-11-20T10:00:00.000Z";
  const answerTo = async ({ method }: ApiRequest) => {
    if (method === "PATCH") return { chat: { ...chat("mbr_1"), unansweredSince: since } };
    await late.promise;
    return { chat: { ...chat(null), unansweredSince: null } };
  };
  const waiting = { ...chat(null), unansweredSince: since };
  const store = new ConversationStore(createApi(answerTo), "cht_1", waiting, () => {});
  store.isShown = true;
  const answered = store.work.markAnswered();
  await store.assign("mbr_1", null);
  late.resolve();
  await answered;
  expect(store.chat.value).toMatchObject({ assigneeId: "mbr_1", unansweredSince: null });
});

test("a message that comes before the answer to an earlier act stays unanswered", async () => {
  const late = Promise.withResolvers<void>();
  const [since, now] = ["2026-11-20T10:00:00.000Z", "2026-11-20T10:01:00.000Z"];
  const waiting = { ...chat(null), lastMessageAt: since, unansweredSince: since };
  const answerTo = async () => {
    await late.promise;
    return { chat: { ...waiting, unansweredSince: null } };
  };
  const store = new ConversationStore(createApi(answerTo), "cht_1", waiting, () => {});
  store.isShown = true;
  const answered = store.work.markAnswered();
  const message = { id: "msg_2", seq: 2, direction: "INBOUND", type: "TEXT", text: "And?", createdAt: now };
  store.take({ type: "message.received", chatId: "cht_1", data: { message } } as unknown as FollowedEvent);
  late.resolve();
  await answered;
  // The act's own event brings the exact time.
  expect(store.chat.value).toMatchObject({ lastMessageAt: now, unansweredSince: since });
});
