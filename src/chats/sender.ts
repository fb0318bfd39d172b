import type { Caller } from "../keys/caller.ts";
import type { RefusedDraft } from "./rpc.ts";

/**
 * The member who sends a message, or the reason to refuse. A member with a session of the console sends in its own name.
 * A key has a default. The operator is not a member of the organization, and must name one.
 * @param named the sender that the request names
 */
export function senderFor(caller: Caller, named: string | undefined): { senderId: string } | RefusedDraft {
  const { principal, defaultSenderId } = caller;
  if (principal.type === "member" && named !== undefined && named !== principal.id) {
    return {
      outcome: "refused",
      code: "permission_denied",
      text: "A member can send only in its own name. Leave out senderId",
    };
  }
  const senderId = named ?? defaultSenderId;
  return senderId === null ? { outcome: "refused", code: "missing_field", text: "senderId is required" } : { senderId };
}
