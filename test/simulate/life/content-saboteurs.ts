import type { Replacement } from "../objects/bundle.ts";

const inbound = "src/chats/object/log/inbound-fields.ts";
const networkChat = "src/chats/object/delivery/network-chat.ts";
const networkIds = "src/chats/object/log/network-ids.ts";
const redaction = "src/chats/object/log/redaction.ts";
const store = "src/chats/object/store-messages.ts";
const telegram = "src/channels/telegram/render.ts";
const web = "src/channels/web/render.ts";

/** Wrong versions of the service that change, cut or tell what a message says besides its text. */
export const CONTENT_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a redaction leaves the choices, and a later tap gets the company's id": {
    file: redaction,
    right: "  interactive: undefined,\n",
    wrong: "",
  },
  "a redaction leaves the contact cards": {
    file: redaction,
    right: "  contacts: undefined,\n",
    wrong: "",
  },
  "a redaction leaves the choice that was tapped": {
    file: redaction,
    right: "  choice: undefined,\n",
    wrong: "",
  },
  "the form of choices is chosen at delivery": {
    file: networkChat,
    right: "  const { interactive = null, location = null, contacts = null } = message;",
    wrong: `  const { location = null, contacts = null } = message;
  const isGroup = address.startsWith("-");
  const interactive = message.interactive && isGroup ? { ...message.interactive, rendering: "text" as const } : (message.interactive ?? null);`,
  },
  "a message that is sent again loses its choices": {
    file: "src/chats/object/message-actions.ts",
    right: "const extra = extraOf(message);",
    wrong: "const extra = extraOf({ ...message, interactive: undefined });",
  },
  "a scheduled message loses its location with its place": {
    file: "src/chats/object/log/new-message.ts",
    right: "    ...message,\n    seq,",
    wrong: "    ...message,\n    location: undefined,\n    seq,",
  },
  "a title is cut": {
    file: telegram,
    right: "{ text: choice.title, callback_data",
    wrong: "{ text: choice.title.slice(0, 5), callback_data",
  },
  "the network gets the company's ids": {
    file: telegram,
    right: "callback_data: tapData(messageId, index) }",
    wrong: "callback_data: choice.type === 'reply' ? choice.id : tapData(messageId, index) }",
  },
  "a page gets the company's ids": {
    file: web,
    right: "{ ...choice, id: tapData(messageId, index) }",
    wrong: "choice",
  },
  "a tap says what the network says": {
    file: store,
    right: "const content = choice && choice.id !== null ? choice.title : draft.content;",
    wrong: "const content = draft.content;",
  },
  "a tap names the choice after the one that was tapped": {
    file: inbound,
    right: "interactive?.choices[tapped.index]",
    wrong: "interactive?.choices[tapped.index + 1]",
  },
  "a forged tap names a message that the chat does not have": {
    file: inbound,
    right: "if (!row) return { id: null, title, messageId: null };",
    wrong: "if (!row) return { id: null, title, messageId: tapped?.messageId ?? null };",
  },
  "a contact's quote of the company's message is lost": {
    file: networkIds,
    right: "return this.contactMessage(id) ?? this.ownMessage(id);",
    wrong: "return this.contactMessage(id);",
  },
  "a page replies to a message of another chat": {
    file: inbound,
    right: "return log.byId(replyTo) ? replyTo : null;",
    wrong: "return replyTo;",
  },
  "a message replies to one that failed": {
    file: store,
    right: `if (status !== null && status !== "FAILED" && status !== "CANCELED") return null;`,
    wrong: "if (status !== null) return null;",
  },
  "a message replies to one that has no place": {
    file: store,
    right: "const quoted = this.#parts.log.byId(replyTo);",
    wrong: `const quoted = this.#parts.log.byId(replyTo) ?? (this.#parts.scheduled.find(replyTo) && { doc: '{"status":"SENT"}' });`,
  },
  "a quote is not sent": {
    file: networkChat,
    right: "const quote = quoted && log.networkIds.of(quoted.seq);",
    wrong: "const quote = null;",
  },
};
