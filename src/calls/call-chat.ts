import type { AsOwner, ChatIdentity, Unknown } from "../model/chat-answers.ts";
import { ApiError } from "../model/error.ts";
import { isId } from "../model/id.ts";
import type { Region } from "../model/region.ts";
import { callObject, NEARBY } from "./call-object.ts";
import { callOrganization, type OrganizationStub } from "./call-organization.ts";

/** The organization for which a chat is called. */
export interface Owner {
  organizationId: string;
  region?: Region | null;
}

/** A message of a chat. */
export interface MessageIds {
  chatId: string;
  messageId: string;
}

export type ChatStub = ReturnType<Env["CHATS"]["getByName"]>;

/**
 * Calls the object of a chat for an organization. An object that has not adopted its chat answers `unknown`. Then this
 * asks the organization's object and repeats the call with the identity found, which the chat adopts.
 * @param known the chat's identity, if the caller has just opened the chat
 * @throws ApiError `chat_not_found`, also for a chat of another organization
 */
export async function callChat<Answer>(
  env: Env,
  owner: Owner,
  chatId: string,
  call: (chat: ChatStub, as: AsOwner) => Answer,
  known: ChatIdentity | null = null,
): Promise<Exclude<Awaited<Answer>, Unknown>> {
  if (!isId("cht", chatId)) throw new ApiError("chat_not_found");
  const { organizationId, region = NEARBY } = owner;
  const ask = (knownIdentity: ChatIdentity | null) => {
    const ofOwner = (chat: ChatStub, isRepeat: boolean) =>
      call(chat, { organizationId, knownIdentity, isRepeat, asText: true });
    return callObject(env.CHATS, chatId, ofOwner, region);
  };
  const first = await ask(known);
  if (isKnown(first)) return first;
  const find = (organization: OrganizationStub) => organization.identity(chatId);
  const identity = await callOrganization(env, organizationId, find, region);
  const second = identity && (await ask(identity));
  if (second && isKnown(second)) return second;
  throw new ApiError("chat_not_found");
}

function isKnown<Answer>(answer: Answer): answer is Exclude<Answer, Unknown> {
  return (answer as { outcome: string }).outcome !== "unknown";
}

/** Resolves to null if the chat is not found. */
export async function nullIfNotFound<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.code === "chat_not_found") return null;
    throw error;
  }
}
