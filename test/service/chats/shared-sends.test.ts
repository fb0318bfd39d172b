import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { AsOwner, Draft } from "../../../src/chats/rpc.ts";
import { sendMessage } from "../../../src/chats/send-message.ts";
import type { Caller } from "../../../src/keys/caller.ts";
import { replaceMethod } from "../../support/faults.ts";
import { newChat, newOrganization } from "../../support/harness.ts";
import { crash } from "./object/delivery/conversation.ts";

/** A chat whose sends share calls. Without the flag, the runtime of the tests lets no request await another's promise. */
async function chatWithSharedSends() {
  vi.stubGlobal("Cloudflare", { compatibilityFlags: { handle_cross_request_promise_resolution: true } });
  const { api, organizationId, channelId, ownerId } = await newOrganization();
  const { id } = await newChat(api, channelId);
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
  const calls: [drafts: number, isRepeat: boolean][] = [];
  let lost = 0;
  replaceMethod("CHATS", "send", (original) => async (...given) => {
    const [as, drafts] = given as [AsOwner, Draft[]];
    calls.push([drafts.length, as.isRepeat]);
    const isShared = drafts.length > 1 && ++lost === 1;
    const answer = await original(...given);
    if (!isShared) return answer;
    await crash(env.CHATS.getByName(chatId));
    throw new Error("internal error; reference = 0123456789abcdef");
  });
  const sent = await Promise.allSettled(["one", "two", "three", "four"].map(post));
  vi.restoreAllMocks();
  // The one that made the shared call learns of its end. The others ask what became of theirs.
  expect(sent.filter(({ status }) => status === "rejected")).toHaveLength(1);
  const shared = calls.find(([drafts]) => drafts > 1);
  expect(shared).toEqual([expect.any(Number), false]);
  expect(calls.filter(([, isRepeat]) => isRepeat)).toEqual(Array((shared?.[0] ?? 0) - 1).fill([1, true]));
  // The order of sends at the same time is open.
  expect((await contents()).toSorted()).toEqual(["four", "one", "three", "two"]);
});
