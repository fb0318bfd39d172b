import type { AsOwner, ChatIdentity } from "../../src/model/chat-answers.ts";

/** For whom a chat's object is called. */
export function asOwner(organizationId: string, knownIdentity: ChatIdentity | null = null, isRepeat = false): AsOwner {
  return { organizationId, knownIdentity, isRepeat };
}
