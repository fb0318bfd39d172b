import { env } from "cloudflare:workers";
import type { Message, MessageStatus } from "../../src/model/message.ts";
import { asOwner } from "./as-owner.ts";
import { admin } from "./harness.ts";
import { until } from "./until.ts";

type ChatStub = ReturnType<typeof env.CHATS.getByName>;

// They ask as no key does: a key that looked until then would meet its rate limit.

/**
 * Waits until a message of a chat has a status.
 * @param object that of the chat, if the test counts who asks for it
 */
export async function untilStatus(chatId: string, id: string, status: MessageStatus, object?: ChatStub): Promise<void> {
  // A stub is of no more use after an eviction.
  const ask = () => object ?? env.CHATS.getByName(chatId);
  const as = await ownerOf(ask());
  const read = async () => {
    const answer = await ask().get(as, id);
    return answer.outcome === "ok" ? (JSON.parse(answer.doc) as Message).status : answer.outcome;
  };
  await until(`the message is ${status}`, read, (seen) => seen === status);
}

/** Waits until this many attempts of a message are stored. @returns their outcomes, in order */
export async function untilAttempts(chatId: string, id: string, count: number): Promise<string[]> {
  const as = await ownerOf(env.CHATS.getByName(chatId));
  const read = async () => {
    const answer = await env.CHATS.getByName(chatId).attempts(as, id);
    return answer.outcome === "ok" ? answer.history.attempts.map(({ outcome }) => outcome) : [];
  };
  return until(`the message has ${count} attempts`, read, ({ length }) => length === count);
}

/** Waits until no message of a chat is queued. */
export async function untilQueueIsEmpty(chatId: string): Promise<void> {
  await until(
    "the queue is empty",
    async () => (await admin("GET", `/chats/${chatId}`)).body.queue,
    ({ depth }) => depth === 0,
  );
}

async function ownerOf(object: ChatStub) {
  const owner = await object.owner();
  if (!owner) throw new Error("The chat has no owner");
  return asOwner(owner.organizationId);
}
