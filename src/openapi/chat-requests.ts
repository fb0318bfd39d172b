import { CHANNEL_KINDS, KINDS } from "../channels/kinds.ts";
import { answeredBody, chatPatch } from "../chats/change-chat.ts";
import { newChatBody } from "../chats/create-chat.ts";
import { handoverBody } from "../chats/hand-over.ts";
import { chatsQuery, MAX_OFFSET } from "../chats/list-chats.ts";
import { messagesQuery } from "../chats/list-messages.ts";
import { MAX_CARDS, MAX_INTERACTIVE_CONTENT } from "../model/content-schema.ts";
import { MAX_CONTENT, MAX_METADATA_BYTES, MAX_PAIRS, sendBody } from "../model/message.ts";
import { MAX_AHEAD_DAYS } from "../model/schedule.ts";
import { examples } from "./examples.ts";
import type { RequestBodySpec } from "./operation.ts";

const deepest = MAX_OFFSET.toLocaleString("en");
const LIMIT = "The maximum number of rows on a page.";
const METADATA = `Your own pairs of strings: at most ${MAX_PAIRS} pairs, and ${MAX_METADATA_BYTES / 1_024} KiB as JSON in UTF-8. The service returns them unchanged.`;
const PERSON_ID =
  "Your own key of the person, such as the number of a customer: the person's chats on all channels have the same one, and `person` lists them. One line of 1 to 128 characters.";
const pairs = { maxProperties: MAX_PAIRS };

/** The query of a list of chats. The list of all chats has no `after`: chats with new activity move to its front. */
export const chatsQueryParameters = {
  schema: chatsQuery,
  descriptions: {
    page: `The page to read, starting at 1. Default: 1. A page that begins past the first ${deepest} chats is a 400. Use \`before\` from there on.`,
    limit: LIMIT,
    before:
      "The `cursor` of the previous page: lists the chats that follow it. Or the id of a chat, unless `assignee`, `state`, `handler`, `person`, `label`, `optedOut` or `mentioned` is given: lists the chats that follow it now, so a chat that becomes active can be listed twice. Can't be combined with `page`, `unanswered`, `scheduled` or `search`.",
    channel: `A channel's id, or a kind of channel (${CHANNEL_KINDS.join(", ")}). Lists only the chats of these channels.`,
    contact: "An exact address. Lists only the chats of the contact with this address.",
    unanswered:
      "`true` lists only the chats with an unanswered message, longest wait first. Their `pagination` has a `cursor`: continue with `after`. Can't be combined with `page`, `before` or `scheduled`.",
    scheduled:
      "`true` lists only the chats with a scheduled message, the next one due first. Their `pagination` has a `cursor`: continue with `after`. Can't be combined with `page`, `before` or `unanswered`.",
    search:
      "Lists only the chats whose contact has an address that begins with this text, or a name with words that begin with these words: `ma oka` finds `Maya Okafor`. Case, width, accents on Latin and Greek letters, and Arabic and Hebrew points make no difference: `jose` finds `José`. Signs of phone numbers, such as `+` and spaces, make no difference in an address. Chats that are found by an address come first, and both groups are in the order of the address or word. While the service prepares its index of contacts after an upgrade, the order is another one. The `pagination` has a `cursor`: continue with `after`. Can be combined with `channel` and `limit` only.",
    assignee:
      "Only the chats of this member, or of nobody (`none`), latest activity first. Their `pagination` has a `cursor`: continue with `before`. With `unanswered`, longest wait first: continue with `after`. Can be combined with `channel`, `unanswered`, `state`, `handler`, `person`, `label` and `optedOut`.",
    state:
      "Only the chats in this state, latest activity first. Their `pagination` has a `cursor`: continue with `before`. With `unanswered`, longest wait first: continue with `after`. Can be combined with `channel`, `unanswered`, `assignee`, `handler`, `person`, `label` and `optedOut`.",
    handler:
      "Only the chats that the bot of their channel has (`bot`), or that people have, latest activity first. Their `pagination` has a `cursor`: continue with `before`. With `unanswered`, longest wait first: continue with `after`. Can be combined with `channel`, `unanswered`, `assignee`, `state`, `person`, `label` and `optedOut`.",
    person:
      "Only the chats whose contact has this `personId`, latest activity first. Their `pagination` has a `cursor`: continue with `before`. With `unanswered`, longest wait first: continue with `after`. Can be combined with `channel`, `unanswered`, `assignee`, `state`, `handler`, `label` and `optedOut`.",
    label:
      "A label's id. Only the chats with this label, latest activity first; none if there is no such label. Their `pagination` has a `cursor`: continue with `before`. With `unanswered`, longest wait first: continue with `after`. Can be combined with `channel`, `unanswered`, `assignee`, `state`, `handler`, `person` and `optedOut`.",
    optedOut:
      "`true` lists only the chats whose contact has opted out of marketing (`marketing.optedOut`), latest activity first. Their `pagination` has a `cursor`: continue with `before`. With `unanswered`, longest wait first: continue with `after`. Can be combined with `channel`, `unanswered`, `assignee`, `state`, `handler`, `person` and `label`.",
    mentioned:
      "A member's id. Only the chats with notes that mention this member, newest mention first, each with its `mention`. A note that was just written or deleted counts after a moment. Their `pagination` has a `cursor`: continue with `before`. Can be combined with `channel`, `assignee`, `state`, `handler`, `person`, `label` and `optedOut`. Needs the permission to read notes too.",
    after: "The `cursor` of the previous page. Only with `unanswered`, `scheduled` or `search`.",
  },
  keywords: { channel: { pattern: `^(${CHANNEL_KINDS.join("|")}|chn_[0-9A-Za-z]+)$` } },
};

const FILTERED =
  "With a filter, `pagination` has a `cursor`: continue with `before`. Can't be combined with `page` or `after`.";

export const messagesQueryParameters = {
  schema: messagesQuery,
  descriptions: {
    page: "The page to read, starting at 1. Default: 1.",
    limit: LIMIT,
    before: "A message's id. Lists older messages than this one. Can't be combined with `page` or `after`.",
    after:
      "A message's id. Lists the oldest `limit` messages that follow this one, newest first, so that a client can catch up without a gap. Can't be combined with `page` or `before`.",
    status: `Lists only the messages with this status. Scheduled messages have a list of their own, \`/chats/{id}/scheduled\`. ${FILTERED}`,
    direction: `Lists only the messages in this direction: OUTBOUND (sent through this API) or INBOUND (from the contact). ${FILTERED}`,
    type: `Lists only the messages of this type. ${FILTERED}`,
    search: `Lists only the messages whose \`text\` contains these 2 to 100 characters. Case, width, accents on Latin and Greek letters, and Arabic and Hebrew points make no difference: \`strasse\` finds \`Straße\`, and \`jose\` finds \`José\`. \`%\` and \`_\` are ordinary characters. ${FILTERED}`,
  },
};

export const newChat: RequestBodySpec = {
  name: "NewChat",
  description: "The chat to create or find.",
  schema: newChatBody,
  descriptions: {
    channelId: "The channel that delivers the chat's messages.",
    contact: "The person outside the organization.",
    "contact.address": `${CHANNEL_KINDS.map((kind) => `${kind}: ${KINDS[kind].addressError}`).join(". ")}.`,
    "contact.name": "The contact's name.",
    "contact.personId": `${PERSON_ID} If the address already has a chat, it is set only if that chat has none.`,
    metadata: METADATA,
  },
  keywords: { metadata: pairs },
  example: { channelId: examples.channel.id, contact: { address: "+1 555 078 3881", name: "Maya" } },
};

export const chatChange: RequestBodySpec = {
  name: "ChatPatch",
  description: "The fields to change.",
  schema: chatPatch,
  descriptions: {
    contact: "The person outside the organization. Null deletes the name and the `personId`.",
    "contact.name": "The contact's name. Null deletes it.",
    "contact.personId": `${PERSON_ID} Null deletes it.`,
    metadata: `Pairs to add or to replace. A pair with the value null is deleted, and null in place of the object deletes all pairs. The others stay. The result has at most ${MAX_PAIRS} pairs, and ${MAX_METADATA_BYTES / 1_024} KiB as JSON in UTF-8.`,
    assigneeId:
      "The member to assign the chat to, who has the permission `messages:send` or `chats:write`. Null unassigns it.",
    ifAssigneeId:
      "Assign the chat only if it is assigned to this member now, or to nobody (null). Otherwise the response is a 409 `chat_reassigned`, and nothing changes.",
    marketing: "Whether the contact takes marketing templates, as you know it.",
    "marketing.optedOut": "`true`: a marketing template to the contact is a 409 `opted_out`. `false`: it is sent.",
    state:
      "`open`, `snoozed` (with `snoozedUntil`) or `closed`. Null is `open`. Closing also marks the chat as answered. The contact's next message opens the chat.",
    snoozedUntil: `When the snooze ends: RFC 3339 with an offset, in the future and at most ${MAX_AHEAD_DAYS} days ahead. Only with the state \`snoozed\`, which needs it.`,
    ifSeq:
      "Changes the chat only if its newest message has this `seq`. Otherwise the response is 409 `chat_moved_on`, and nothing changes. Only with `state`.",
  },
  example: { contact: { name: "Maya Okafor" }, metadata: { order: "4712" } },
};

export const answeredRequest: RequestBodySpec = {
  name: "AnsweredRequest",
  description: "It can be empty.",
  schema: answeredBody,
  mayBeEmpty: true,
  descriptions: {
    ifSeq:
      "Marks the chat only if its newest message has this `seq`. Otherwise the response is 409 `chat_moved_on`, and nothing changes.",
  },
  example: { ifSeq: 7 },
};

export const newMessage: RequestBodySpec = {
  name: "NewMessage",
  description: "The message to send.",
  schema: sendBody,
  descriptions: {
    content: `The text: 1 to ${MAX_CONTENT.toLocaleString("en")} characters, not only white space or invisible characters. Required, also with a template. With a \`mediaUrl\` it is the caption. To send media without a caption, repeat the \`mediaUrl\` here.`,
    type: "The kind of message. Default: TEXT. A message with a `templateId` always has the type TEMPLATE. TEMPLATE without a `templateId` delivers `content` as it is.",
    senderId: "The member who sends the message. Default: the organization's first member.",
    templateId: "The template to deliver. The service fills it with `variables`.",
    variables:
      "The values for the template's placeholders. Send what people read as text: the number 19.90 is 19.9, and a number with more digits than JSON's 64 bits hold is a 400. A missing one is a 400 too. The service ignores variables that the template does not use.",
    mediaUrl:
      "The https URL of an IMAGE, DOCUMENT, AUDIO or VIDEO. Default: `content`, if it is an https URL. The service passes the URL to the network and never fetches it.",
    mediaId:
      "The id of an uploaded file, in place of a `mediaUrl`. Without a `type`, the service chooses the richest type that the channel accepts for the file, else DOCUMENT. `content` is the caption; to send the file without one, repeat the `mediaId` there.",
    metadata: METADATA,
    scheduledAt: `When to send the message: RFC 3339 with an offset, at most ${MAX_AHEAD_DAYS} days ahead. A time in the past means at once. Default: at once.`,
    expiresAt:
      "Don't try to deliver the message after this time: RFC 3339 with an offset, later than now and than `scheduledAt`. Default: never.",
    ifSeq:
      "Sends the message only if the chat's newest message has this `seq`, and no scheduled message is due within 15 seconds. Otherwise the response is 409 `chat_moved_on`.",
    ifOpen:
      "`true` sends the message only before the chat's `replyUntil`. Otherwise the response is 409 `window_closed`. A scheduled message is checked again when it is due, and then ends as FAILED with this code.",
    draftId:
      "The id of a note with `draft` that the message sends. The note is deleted in the same commit, so a draft is sent once: if it is gone, the response is 404 `note_not_found`. Needs `notes:write` too.",
    interactive: `Choices below the text, which then has at most ${MAX_INTERACTIVE_CONTENT.toLocaleString("en")} characters. With a \`mediaUrl\` and a type (not AUDIO), the media stands above the text. The channel shows all of it: as buttons, as a list, or as lines of text. Can't be combined with \`templateId\`, \`location\` or \`contacts\`.`,
    "interactive.choices":
      "The choices, all of one type. `reply`: the contact answers with its `title`, and the answer has its `id`. `link`: opens a page. `location`: asks for the contact's location, and is the only choice. Titles and ids are unique.",
    "interactive.choices[].type": "What a tap does.",
    "interactive.choices[].id":
      "Your own id of the reply, which comes back as `choice.id` of the contact's answer. The network and the contact never see it.",
    "interactive.choices[].title": "What the contact reads, in one line.",
    "interactive.choices[].description": "A line that explains the title.",
    "interactive.choices[].section":
      "The section of the list that the reply belongs to. Replies of one section are listed together.",
    "interactive.choices[].url": "The page that the link opens: http or https, without a user name and a password.",
    "interactive.header": "A line above the text. Can't be combined with media.",
    "interactive.footer": "A line below the text.",
    "interactive.menuTitle": "The label of the button that opens a list, on channels with lists. Default: Options.",
    location:
      "A place, sent in place of `content` where the channel can show it. Can't be combined with `templateId`, `interactive`, `contacts` or media.",
    "location.latitude": "In degrees, from -90 to 90.",
    "location.longitude": "In degrees, from -180 to 180.",
    "location.name": "The name of the place.",
    "location.address": "The address of the place.",
    contacts: `1 to ${MAX_CARDS} contact cards, sent in place of \`content\` where the channel can show them. Can't be combined with \`templateId\`, \`interactive\`, \`location\` or media.`,
    "contacts[].name": "The person's name.",
    "contacts[].phones":
      "1 to 5 phone numbers: digits, with at most a leading `+`. Spaces, dots, dashes, slashes and parentheses may separate them.",
    template:
      "The values for the header and the buttons of a template that was synced from its network. They are checked against what the network approved. Only with `templateId`.",
    "template.header":
      "A header that is a text with a variable takes `variables`; an image, a video or a document takes `mediaUrl` or `mediaId`; a location takes `location` with its `name` and `address`.",
    "template.header.mediaUrl": "The https URL of the image, video or document.",
    "template.header.mediaId":
      "The id of an uploaded file, in place of a `mediaUrl`. It must be what the network approved as the header.",
    "template.header.fileName": "The name of the document.",
    "template.header.variables": "The values for the placeholders of the header's text.",
    "template.header.location": "The place.",
    "template.header.location.latitude": "In degrees, from -90 to 90.",
    "template.header.location.longitude": "In degrees, from -180 to 180.",
    "template.header.location.name": "The name of the place. Required.",
    "template.header.location.address": "The address of the place. Required.",
    "template.buttons":
      "The values of the buttons that take one. The service fills in the button's code of an authentication template.",
    "template.buttons[].index": "The index of the button, from 0, over all buttons.",
    "template.buttons[].urlSuffix": "The end of the button's address, in place of its placeholder.",
    "template.buttons[].payload":
      "Your own id of a quick reply. It comes back as the `choice.id` of the contact's tap. Default: the title.",
    "template.buttons[].code": "The code that the button copies.",
    voice:
      "Sends AUDIO as a voice note: an uploaded OGG file, on some channels an MP3 or M4A too, or a link that ends with `.ogg`, `.oga` or `.opus`. Anything else goes out as audio, and the message has `voice: false`.",
    replyTo:
      "The id of a message in this chat that this one replies to. It can't be a scheduled, failed or canceled one. If the network no longer has that message, this one is sent without the quote.",
  },
  keywords: { metadata: pairs },
  example: { content: examples.message.content },
  more: {
    "With choices": {
      content: "When may we deliver?",
      interactive: {
        choices: [
          { type: "reply", id: "slot-1", title: "Today" },
          { type: "reply", id: "slot-2", title: "Tomorrow" },
        ],
        footer: "Delivery is free",
      },
    },
    "With a link": {
      content: "Your order has shipped.",
      interactive: { choices: [{ type: "link", title: "Track it", url: "https://shop.example/orders/4711" }] },
    },
    "A reply": { content: "Yes, it comes in blue as well.", replyTo: examples.message.id },
    "A location": {
      content: "Our shop: 12 Market Street, Berlin",
      location: { latitude: 52.5219, longitude: 13.4132, name: "Acme", address: "12 Market Street, Berlin" },
    },
    "A contact card": {
      content: "Ada from our workshop: +49 30 1234567",
      contacts: [{ name: "Ada", phones: ["+49 30 1234567"] }],
    },
  },
};

/** The descriptions of a body's fields, where the body is a field itself. */
function within(field: string, descriptions: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(descriptions).map(([path, text]) => [`${field}.${path}`, text]));
}

export const handoverRequest: RequestBodySpec = {
  name: "HandoverRequest",
  description: "Who gets the chat, and what is stored with it.",
  schema: handoverBody,
  descriptions: {
    to: "`people`, or `bot`, the channel's. If the chat has this handler already, only the rest of the body is stored.",
    message:
      "A last message to the contact, as `POST /chats/{id}/messages` takes it, without `scheduledAt`. It leaves the contact waiting: `unansweredSince` stays. Needs the permission `messages:send`.",
    ...within("message", newMessage.descriptions),
    note: "A note for the team: a text, or what `POST /chats/{id}/notes` takes. Needs the permission `notes:write`.",
    "note.content": "What it says.",
    "note.mentions": "The ids of members whom it is for.",
    assigneeId: "Also assigns the chat to this member. Null unassigns it.",
  },
  example: {
    to: "people",
    message: { content: "A colleague will answer you in a few minutes." },
    note: "Wants a refund for order 4711.",
  },
};
