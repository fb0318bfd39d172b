import { directory } from "../db/client.ts";
import type { Region } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { isId } from "../ids.ts";
import { callObject } from "../platform/call-object.ts";
import type { ChatObject } from "./chat-object.ts";
import { findIdentity } from "./directory.ts";
import type { ChatIdentity } from "./identity.ts";
import type { Unknown } from "./rpc.ts";

/**
 * Calls the object of a chat for an organization. A chat that does not know itself yet answers `unknown`; then the
 * directory is asked once, and the call made again with what it says, which the object adopts. A caller who has just
 * asked the directory passes what it said as `told`.
 * @throws ApiError `chat_not_found`, alike for a chat that is not there and for one of another organization
 */
export async function callChat<Answer>(
  env: Env,
  owner: { organizationId: string; region?: Region | null },
  chatId: string,
  call: (chat: DurableObjectStub<ChatObject>, adoption: ChatIdentity | null) => Answer,
  told: ChatIdentity | null = null,
): Promise<Exclude<Awaited<Answer>, Unknown>> {
  if (!isId("cht", chatId)) throw new ApiError("chat_not_found");
  const ask = (adoption: ChatIdentity | null) =>
    callObject(env.CHATS, chatId, (chat) => call(chat, adoption), owner.region);
  const first = await ask(told);
  if (isKnown(first)) return first;
  const identity = await findIdentity(directory(env), owner.organizationId, chatId);
  const second = identity && (await ask(identity));
  if (second && isKnown(second)) return second;
  throw new ApiError("chat_not_found");
}

function isKnown<Answer>(answer: Answer): answer is Exclude<Answer, Unknown> {
  return (answer as { outcome: string }).outcome !== "unknown";
}
