import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service that apply what contacts change in another order, twice, or to the wrong message. */
export const CHANGE_SABOTEURS = wrongVersions({
  "src/chats/object/edits-and-reactions.ts": {
    "an edit that comes after a redaction is applied": [
      "return message && isBlank(message) ? null : message;",
      "return message;",
    ],
    "an older edit wins": [
      `const latest = Math.max(storedAt, heard.latest(seq, "edit"));`,
      "const latest = Number.NEGATIVE_INFINITY;",
    ],
    "an edit changes the content and not the text": [
      "const edited = { ...message, content, text: content,",
      "const edited = { ...message, content,",
    ],
    "an event has the emoji": [`"message.reaction", { by, at }`, `"message.reaction", { by, at, emoji } as never`],
    "a removed reaction comes back by a late one": [
      ": this.#lastReactionAt(seq, side);",
      ": Number.NEGATIVE_INFINITY;",
    ],
    "a removal that comes first is forgotten": [
      `if (at > latest && side === "contact") heard.note(seq, "reaction", at);`,
      "",
    ],
    "an older reaction wins": ["stored ? Date.parse(stored.at) :", "stored ? Number.NEGATIVE_INFINITY :"],
    "a message has several reactions of the contact": [
      "message.reactions?.filter((each) => each.by !== by) ?? [];",
      "message.reactions ?? [];",
    ],
  },
  "src/chats/object/log/redaction.ts": {
    "an edit that comes after the contact's deletion is applied": [
      "return (redactedAt ?? deletedAt) !== undefined;",
      "return redactedAt !== undefined;",
    ],
    "a deletion leaves the reactions": ["  reactions: undefined,\n", ""],
    "a deletion leaves the location": ["  location: undefined,\n", ""],
  },
  "src/chats/object/log/message-log.ts": {
    "an edit has no event": [
      'this.commit([{ type, seq, note, at }], () => {\n      this.#messages.run("update messages set doc',
      `this.commit(type === "message.edited" ? [] : [{ type, seq, note, at }], () => {\n      this.#messages.run("update messages set doc`,
    ],
    "an edit makes the message the newest of its chat": [
      "    const message = updated(changed, at);\n",
      "    const message = updated(changed, at);\n    this.#newest = { ...this.newest(), at };\n",
    ],
  },
  "src/chats/object/redactions.ts": {
    "a deletion that is told again has another event": [
      `if (isBlank(message) && !this.#isUnreported(seq)) return { outcome: "ok" };`,
      `if (message.redactedAt === undefined) return { outcome: (await this.#blank(message, null)).outcome };`,
    ],
    "a deletion is not told to the list of chats": [
      "    await alarm.by(report.changed());\n",
      '    if (1) return { outcome: "ok", doc };\n',
    ],
  },
});
