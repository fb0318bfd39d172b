import type { ChatIdentity, Draft } from "../../src/model/chat-answers.ts";
import { newId } from "../../src/model/id.ts";

/** A draft that says nothing besides text and media. */
type PlainDraft = Omit<Draft, "extra"> & { extra?: undefined };

/** A plain text message as the Worker passes it to a chat's object. */
export function draft(content: string, changes: Partial<PlainDraft> = {}): PlainDraft {
  return {
    calledAt: Date.now(),
    id: newId("msg", null),
    content,
    type: "TEXT",
    mediaUrl: null,
    templateId: null,
    variables: null,
    metadata: {},
    idempotencyHash: null,
    fingerprint: null,
    prepared: { outcome: "prepared", senderId: "mbr_gaaaaaaaaaaaaaaa", text: content, template: null },
    ...changes,
  };
}

/** The identity of a chat on a web channel, as its organization's object gives it to the chat's object. */
export function identity(
  known: Pick<ChatIdentity, "chatId" | "organizationId" | "channelId">,
  changes: Partial<ChatIdentity> = {},
): ChatIdentity {
  const now = Date.now();
  return {
    channelKind: "web",
    contactAddress: "someone",
    createdAt: now,
    life: now,
    addresses: [],
    isLean: true,
    ...known,
    ...changes,
  };
}
