import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { sendMessage } from "../../../src/chats/send-message.ts";
import type { Caller } from "../../../src/model/caller.ts";
import type { AsOwner, Draft } from "../../../src/model/chat-answers.ts";
import { replaceMethod } from "../../support/faults.ts";
import { newChat, newOrganization } from "../../support/harness.ts";
import { crash } from "./object/delivery/conversation.ts";

/** A chat whose sends share calls. Without the flag, the runtime of the tests lets no request await another's promise. */
async function chatWithSharedSends() {
  const { api, organizationId, channelId, ownerId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  // After these: what the Worker keeps for this runtime is made at its first use, and must not share calls.
  vi.stubGlobal("Cloudflare", { compatibilityFlags: { handle_cross_request_promise_resolution: true } });
  const caller: Caller = {
    principal: { type: "key", id: "key", name: "Key" },
    organizationId,
    permissions: ["messages:send"],
    defaultSenderId: ownerId,
    region: null,
  };
  const post = (content: string) => {
    const request = { body: { content, metadata: {} }, idempotencyKey: null, url: "https://parley.test/" };
    return sendMessage(env, { waitUntil: () => {} }, caller, id, request as Parameters<typeof sendMessage>[4]);
  };
  const contents = async () => {
    const { body } = await api("GET", `/chats/${id}/messages?limit=100`);
    return body.messages.map(({ content }: { content: string }) => content).toReversed();
  };
  return { chatId: id, post, contents };
}

test("messages whose shared call stored them before its object was lost are not stored again by their own calls", async () => {
  const { chatId, post, contents } = await chatWithSharedSends();
  // No request gives up waiting and makes its own call.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const calls: [drafts: number, isRepeat: boolean][] = [];
  replaceMethod("CHATS", "send", (original) => async (...given) => {
    const [as, drafts] = given as [AsOwner, Draft[]];
    const nth = calls.push([drafts.length, as.isRepeat]);
    const answer = await original(...given);
    if (nth !== 2) return answer;
    await crash(env.CHATS.getByName(chatId));
    throw new Error("internal error; reference = 0123456789abcdef");
  });
  const sent = await Promise.allSettled(["one", "two", "three", "four"].map(post));
  vi.restoreAllMocks();
  vi.useRealTimers();
  expect(sent.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  const [first, shared, ...own] = calls;
  expect([first, shared]).toEqual([
    [1, false],
    [3, false],
  ]);
  for (const call of own) expect(call).toEqual([1, true]);
  expect(await contents()).toEqual(["one", "two", "three", "four"]);
});
