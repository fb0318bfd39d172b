import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service that react and mark as read for the company in another way than it was answered. */
export const ACT_SABOTEURS = wrongVersions({
  "src/chats/object/acts.ts": {
    "a reaction that the network refused is stored": [
      `      if (made.outcome !== "ok") return made;
      if (!made.shown) return refused("not_supported_by_channel");\n`,
      "",
    ],
    "all messages are read when one is": ["this.#store(row.seq);", "this.#store(log.newest().seq);"],
  },
  "src/chats/object/edits-and-reactions.ts": {
    "a reaction that failed fails the message": [
      "    if (stored && Date.parse(stored.at) === at) return",
      `    if (stored) this.#parts.log.writeStatus(message, { status: "FAILED", error: { code: "x", message: "" }, at: Date.now() });
    if (stored && Date.parse(stored.at) === at) return`,
    ],
    "a reaction that failed takes back a later one": [
      "if (stored && Date.parse(stored.at) === at) return",
      "if (stored) return",
    ],
    "a reaction that failed before it was stored stays": [
      "if (!message || this.#failed.delete(failedKey(message.id, at))) return null;",
      "if (!message) return null;",
    ],
    "the company's reaction replaces the contact's": [
      `if (!stored && emoji === null) return message;
    return this.#replaceReaction(message, "organization", emoji, at);`,
      `if (!stored && emoji === null) return message;
    return this.#replaceReaction(message, "contact", emoji, at);`,
    ],
    "a page is not told of a reaction": ["    visitors.update(stored);\n", ""],
  },
});
