import type { Draft, SendAnswer } from "../../model/chat-answers.ts";
import type { Message } from "../../model/message.ts";

/**
 * The answer to a used idempotency key. After a redaction there is no fingerprint to compare, so the key returns the
 * redacted message whatever the body.
 * @param first the message that the key stored
 */
export function replay(first: { doc: string; fingerprint: string | null }, draft: Draft): SendAnswer {
  if (first.fingerprint !== null && first.fingerprint !== draft.fingerprint) {
    return { outcome: "refused", code: "idempotency_mismatch" };
  }
  // If the id begins with the call's, our own call was repeated, not the client's request.
  const isOwn = (JSON.parse(first.doc) as Message).id.startsWith(draft.id);
  return { outcome: "stored", doc: first.doc, replayed: !isOwn };
}
