import type { Draft } from "../../src/chats/rpc.ts";
import { newId } from "../../src/ids.ts";

/** A message on its way to a chat's object, as the Worker makes it of a plain text. */
export function draft(content: string, changes: Partial<Draft> = {}): Draft {
  return {
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
