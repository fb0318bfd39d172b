import type { Replacement } from "../objects/bundle.ts";

const changes = "src/chats/object/message-changes.ts";
const log = "src/chats/object/log";
const messageLog = `${log}/message-log.ts`;
const redaction = `${log}/redaction.ts`;

/** Wrong versions of the service that apply what contacts change in another order, twice, or to the wrong message. */
export const CHANGE_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "an edit that comes after a redaction is applied": {
    file: changes,
    right: "return message && isBlank(message) ? null : message;",
    wrong: "return message;",
  },
  "an edit that comes after the contact's deletion is applied": {
    file: redaction,
    right: "return (redactedAt ?? deletedAt) !== undefined;",
    wrong: "return redactedAt !== undefined;",
  },
  "an older edit wins": {
    file: changes,
    right: `const latest = Math.max(storedAt, heard.latest(seq, "edit"));`,
    wrong: "const latest = Number.NEGATIVE_INFINITY;",
  },
  "an edit back to an earlier text is forgotten": {
    file: changes,
    right: `if (at > latest) heard.note(seq, "edit", at);`,
    wrong: "",
  },
  "an edit that changes nothing has an event": {
    file: changes,
    right: "if (message.content === content) {",
    wrong: "if (message.content === content && at === latest) {",
  },
  "an edit changes the content and not the text": {
    file: changes,
    right: "const edited = { ...message, content, text: content,",
    wrong: "const edited = { ...message, content,",
  },
  "an edit has no event": {
    file: messageLog,
    right: 'this.commit([{ type, seq, note, at }], () => {\n      this.#sql.exec("update messages set doc',
    wrong: `this.commit(type === "message.edited" ? [] : [{ type, seq, note, at }], () => {\n      this.#sql.exec("update messages set doc`,
  },
  "an event has the emoji": {
    file: changes,
    right: `"message.reaction", { by, at }`,
    wrong: `"message.reaction", { by, at, emoji } as never`,
  },
  "a deletion leaves the reactions": {
    file: redaction,
    right: "  reactions: undefined,\n",
    wrong: "",
  },
  "a deletion leaves the location": {
    file: redaction,
    right: "  location: undefined,\n",
    wrong: "",
  },
  "a deletion that is told again has another event": {
    file: "src/chats/object/redactions.ts",
    right: `if (isBlank(message) && !this.#isUnreported(seq)) return { outcome: "ok" };`,
    wrong: `if (message.redactedAt === undefined) return { outcome: (await this.#blank(message, null)).outcome };`,
  },
  "a deletion is not told to the list of chats": {
    file: "src/chats/object/redactions.ts",
    right: "    await alarm.by(report.changed());\n",
    wrong: '    if (1) return { outcome: "ok", doc };\n',
  },
  "a removed reaction comes back by a late one": {
    file: changes,
    right: ": this.#lastReactionAt(seq);",
    wrong: ": Number.NEGATIVE_INFINITY;",
  },
  "a removal that comes first is forgotten": {
    file: changes,
    right: `if (at > latest) heard.note(seq, "reaction", at);`,
    wrong: "",
  },
  "an older reaction wins": {
    file: changes,
    right: "stored ? Date.parse(stored.at) :",
    wrong: "stored ? Number.NEGATIVE_INFINITY :",
  },
  "a message has several reactions of the contact": {
    file: changes,
    right: "message.reactions?.filter((each) => each.by !== by) ?? [];",
    wrong: "message.reactions ?? [];",
  },
  "an edit makes the message the newest of its chat": {
    file: messageLog,
    right: "    const message = updated(changed, at);\n",
    wrong: "    const message = updated(changed, at);\n    this.#newest = { ...this.newest(), at };\n",
  },
};
