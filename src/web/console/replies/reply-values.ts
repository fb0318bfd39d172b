import type { ReplyValues } from "../../../model/reply.ts";
import type { Chat, Member } from "../api.ts";
import { seenName } from "../names.ts";

/** What fills the placeholders of a saved reply in a chat. @param member who writes; null if that is not known */
export function replyValues(
  { contact, metadata }: Pick<Chat, "contact" | "metadata">,
  member: Pick<Member, "name" | "publicName"> | null,
): ReplyValues {
  return {
    ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value])),
    "contact.name": seenName(contact.name),
    // The contact reads it.
    "member.name": member && (member.publicName ?? member.name),
  };
}
