import { CHANNEL_KINDS } from "../channels/kinds.ts";
import { newChatBody } from "../chats/create-chat.ts";
import { chatsQuery, DEEPEST } from "../chats/list-chats.ts";
import { messagesQuery } from "../chats/list-messages.ts";
import { MAX_CONTENT, MAX_METADATA_BYTES, MAX_PAIRS, sendBody } from "../chats/message.ts";
import * as examples from "./examples.ts";
import type { Body } from "./operation.ts";

const deepest = DEEPEST.toLocaleString("en");
const LIMIT = "How many rows a page holds at most.";
const METADATA = `Your own pairs: at most ${MAX_PAIRS}, and ${MAX_METADATA_BYTES / 1_024} KiB as JSON in UTF-8. Answers return them unchanged.`;
const pairs = { maxProperties: MAX_PAIRS };

/** Which chats are listed. `after` is refused: the order is by activity, and what is newer stands at its front. */
export const chatsQueryParameters = {
  schema: chatsQuery,
  descriptions: {
    page: `The page to read, from 1 on; 1 unless given. One that begins past ${deepest} chats is refused: walk with \`before\`.`,
    limit: LIMIT,
    before: "A chat's id: lists those that were active before it. Not together with `page`.",
    channel: `A channel's id, or a kind of channel (${CHANNEL_KINDS.join(", ")}): lists its chats alone.`,
    contact: "An address, exactly: lists the chats of the contact who has it alone.",
  },
  keywords: { channel: { pattern: `^(${CHANNEL_KINDS.join("|")}|chn_[0-9A-Za-z]+)$` } },
};

export const messagesQueryParameters = {
  schema: messagesQuery,
  descriptions: {
    page: "The page to read, from 1 on; 1 unless given.",
    limit: LIMIT,
    before: "A message's id: lists those before it. Not together with `page` or `after`.",
    after:
      "A message's id: lists the oldest `limit` of those that follow it, most recent first as always, so that a client that catches up skips none. Not together with `page` or `before`.",
  },
};

export const newChat: Body = {
  name: "NewChat",
  description: "A chat to make, or to find.",
  schema: newChatBody,
  descriptions: {
    channelId: "The channel that its messages are delivered through.",
    contact: "Whom it is with.",
    "contact.address":
      "whatsapp: a phone number (a leading +, spaces, dashes and brackets are removed). telegram: a chat id. web: any text that does not begin with `web_`.",
    "contact.name": "What the contact is called.",
    metadata: METADATA,
  },
  keywords: { metadata: pairs },
  example: { channelId: examples.channel.id, contact: { address: "+1 555 078 3881", name: "Maya" } },
};

export const newMessage: Body = {
  name: "NewMessage",
  description: "A message to send.",
  schema: sendBody,
  descriptions: {
    content: `The text, or the caption where there is a \`mediaUrl\`: 1 to ${MAX_CONTENT.toLocaleString("en")} UTF-16 units, not only white space. Required with a template too. Content that equals \`mediaUrl\` is no caption.`,
    type: "What kind of message it is: TEXT unless given, always TEMPLATE where `templateId` is given. TEMPLATE without one delivers `content` as it is.",
    senderId: "The member who sends it; the organization's first member unless given.",
    templateId: "The template to deliver, filled with `variables`.",
    variables: "What the template's placeholders are filled with; those that it does not know are ignored.",
    mediaUrl:
      "An https address of the media of an IMAGE, DOCUMENT, AUDIO or VIDEO; without it `content` is, where that is an https URL. It is handed to the network and never fetched by this service.",
    metadata: METADATA,
  },
  keywords: { metadata: pairs },
  example: { content: examples.message.content },
};
