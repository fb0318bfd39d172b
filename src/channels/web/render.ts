import { type Interactive, tapData } from "../../model/content.ts";
import type { Message } from "../../model/message.ts";

/**
 * Renders a message for its visitor. Each field is named, so that a new one stays inside until somebody shows it.
 * @param linkTo a link to the message's file, for a browser without a key
 */
export function visitorMessage(message: Message, linkTo: (message: Message) => string | null) {
  const { id, chatId, seq, direction, type, content, text, status, error, createdAt, updatedAt } = message;
  const { sender, replyTo, interactive, location, contacts, choice, media, sticker, reactions } = message;
  const mediaUrl = media ? linkTo(message) : message.mediaUrl;
  const { editedAt, deletedAt, redactedAt } = message;
  return {
    ...{ id, chatId, seq, direction, type, content, mediaUrl, text, status, error, createdAt, updatedAt },
    ...(sender && { sender }),
    ...(replyTo !== undefined && { replyTo }),
    // The `id` of a reply is what the page sends with the tap.
    ...(interactive && { interactive: visitorChoices(id, interactive) }),
    ...(location && { location }),
    ...(contacts && { contacts }),
    ...(choice && { choice: { title: choice.title, messageId: choice.messageId } }),
    ...(media && { media }),
    ...(sticker && { sticker }),
    ...(reactions && { reactions }),
    ...(editedAt !== undefined && { editedAt }),
    ...(deletedAt !== undefined && { deletedAt }),
    ...(redactedAt !== undefined && { redactedAt }),
  };
}

/** A message as its visitor sees it, without the company's internal fields. */
export type VisitorMessage = ReturnType<typeof visitorMessage>;

/** The company's own ids of the replies never leave: they may say what the visitor must not know. */
function visitorChoices(messageId: string, interactive: Interactive): Interactive {
  const choices = interactive.choices.map((choice, index) =>
    choice.type === "reply" ? { ...choice, id: tapData(messageId, index) } : choice,
  );
  return { ...interactive, choices };
}
