import type { Caller } from "../model/caller.ts";
import type { RefusedDraft } from "../model/chat-answers.ts";

interface Sender {
  senderId: string;
  /** The name that contacts see. Unset if the sender is a default that nobody named. */
  senderName?: string | undefined;
}

/**
 * The member who sends a message, or the reason to refuse. A member with a session of the console sends in its own name.
 * A key has a default. The operator is not a member of the organization, and must name one.
 * @param named the sender that the request names @param name the name of that member that contacts see
 */
export function senderFor(caller: Caller, named: string | undefined, name: string | undefined): Sender | RefusedDraft {
  const { principal, defaultSenderId, publicName } = caller;
  if (principal.type === "member" && named !== undefined && named !== principal.id) {
    return {
      outcome: "refused",
      code: "permission_denied",
      text: "A member can send only in its own name. Leave out senderId",
    };
  }
  const senderId = named ?? defaultSenderId;
  if (senderId === null) return { outcome: "refused", code: "missing_field", text: "senderId is required" };
  return { senderId, senderName: principal.type === "member" ? publicName : name };
}
