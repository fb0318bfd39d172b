import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service that change, cut or tell what a message says besides its text. */
export const CONTENT_SABOTEURS = wrongVersions({
  "src/chats/object/log/redaction.ts": {
    "a redaction leaves the choices, and a later tap gets the company's id": ["  interactive: undefined,\n", ""],
    "a redaction leaves the contact cards": ["  contacts: undefined,\n", ""],
    "a redaction leaves the choice that was tapped": ["  choice: undefined,\n", ""],
  },
  "src/chats/object/delivery/network-chat.ts": {
    "the form of choices is chosen at delivery": [
      "  const { interactive = null, location = null, contacts = null } = message;",
      `  const { location = null, contacts = null } = message;
  const isGroup = address.startsWith("-");
  const interactive = message.interactive && isGroup ? { ...message.interactive, rendering: "text" as const } : (message.interactive ?? null);`,
    ],
    "a quote is not sent": ["const quote = quoted && log.networkIds.of(quoted.seq);", "const quote = null;"],
  },
  "src/chats/object/cancel-and-resend.ts": {
    "a message that is sent again loses its choices": [
      "const extra = extraOf(message);",
      "const extra = extraOf({ ...message, interactive: undefined });",
    ],
  },
  "src/chats/object/log/new-message.ts": {
    "a scheduled message loses its location with its place": [
      "    ...message,\n    seq,",
      "    ...message,\n    location: undefined,\n    seq,",
    ],
  },
  "src/channels/telegram/render.ts": {
    "a title is cut": ["{ text: choice.title, callback_data", "{ text: choice.title.slice(0, 5), callback_data"],
    "the network gets the company's ids": [
      "callback_data: tapData(messageId, index) }",
      "callback_data: choice.type === 'reply' ? choice.id : tapData(messageId, index) }",
    ],
  },
  "src/channels/web/render.ts": {
    "a page gets the company's ids": ["{ ...choice, id: tapData(messageId, index) }", "choice"],
  },
  "src/chats/object/store-messages.ts": {
    "a tap says what the network says": [
      "const content = choice && choice.id !== null ? choice.title : draft.content;",
      "const content = draft.content;",
    ],
    "a message replies to one that failed": [
      `if (status !== null && status !== "FAILED" && status !== "CANCELED") return null;`,
      "if (status !== null) return null;",
    ],
    "a message replies to one that has no place": [
      "const quoted = this.#parts.log.byId(replyTo);",
      `const quoted = this.#parts.log.byId(replyTo) ?? (this.#parts.scheduled.find(replyTo) && { doc: '{"status":"SENT"}' });`,
    ],
  },
  "src/chats/object/log/inbound-fields.ts": {
    "a tap names the choice after the one that was tapped": [
      "interactive?.choices[tapped.index]",
      "interactive?.choices[tapped.index + 1]",
    ],
    "a forged tap names a message that the chat does not have": [
      "if (!row) return { id: null, title, messageId: null };",
      "if (!row) return { id: null, title, messageId: tapped?.messageId ?? null };",
    ],
    "a page replies to a message of another chat": ["return log.byId(replyTo) ? replyTo : null;", "return replyTo;"],
  },
  "src/chats/object/log/network-ids.ts": {
    "a contact's quote of the company's message is lost": [
      "return this.receivedMessage(id) ?? this.ownMessage(id);",
      "return this.receivedMessage(id);",
    ],
  },
});
