import type { Replacement } from "../objects/bundle.ts";

const acts = "src/chats/object/acts.ts";
const changes = "src/chats/object/message-changes.ts";

/** Wrong versions of the service that react and mark as read for the company in another way than it was answered. */
export const ACT_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a reaction that the network refused is stored": {
    file: acts,
    right: `      if (made.outcome !== "ok") return made;
      if (!made.shown) return refused("not_supported_by_channel");\n`,
    wrong: "",
  },
  "a reaction that failed fails the message": {
    file: changes,
    right: "    if (stored && Date.parse(stored.at) === at) return",
    wrong: `    if (stored) this.#parts.log.writeStatus(message, { status: "FAILED", error: { code: "x", message: "" }, at: Date.now() });
    if (stored && Date.parse(stored.at) === at) return`,
  },
  "a reaction that failed takes back a later one": {
    file: changes,
    right: "if (stored && Date.parse(stored.at) === at) return",
    wrong: "if (stored) return",
  },
  "a reaction that failed before it was stored stays": {
    file: changes,
    right: "if (!message || this.#failed.delete(failedKey(message.id, at))) return null;",
    wrong: "if (!message) return null;",
  },
  "the company's reaction replaces the contact's": {
    file: changes,
    right: `if (!stored && emoji === null) return message;
    return this.#replaceReaction(message, "organization", emoji, at);`,
    wrong: `if (!stored && emoji === null) return message;
    return this.#replaceReaction(message, "contact", emoji, at);`,
  },
  "all messages are read when one is": {
    file: acts,
    right: "this.#store(row.seq);",
    wrong: "this.#store(log.newest().seq);",
  },
  "a page is not told of a reaction": {
    file: changes,
    right: "    visitors.update(stored);\n",
    wrong: "",
  },
};
