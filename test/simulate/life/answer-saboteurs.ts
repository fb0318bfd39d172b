import type { Replacement } from "../objects/bundle.ts";

const log = "src/chats/object/log";
const replay = "src/chats/object/idempotent-replay.ts";
const store = "src/chats/object/store-messages.ts";

/** Wrong versions of the service that keep what they should, and tell callers something else. */
export const ANSWER_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a key returns its message to another request": {
    file: replay,
    right: "first.fingerprint !== null && first.fingerprint !== draft.fingerprint",
    wrong: "first.fingerprint === draft.id",
  },
  "a redacted message's key is refused": {
    file: replay,
    right: "first.fingerprint !== null && ",
    wrong: "",
  },
  "what the network sends again is stored again": {
    file: store,
    right: "const dedupe = inboundDedupe(draft.dedupe);",
    wrong: "const dedupe = inboundDedupe(draft.id);",
  },
  "times run backwards with the clock": {
    file: `${log}/new-message.ts`,
    right: "Math.max(now, newest.at, createdAt)",
    wrong: "Math.max(now, createdAt)",
  },
  "a page that has changed is unchanged": {
    file: `${log}/pages.ts`,
    right: "this.#log.changes}`;",
    wrong: "this.#log.newest().seq}`;",
  },
  "two instances have the same versions": {
    file: `${log}/pages.ts`,
    right: "readonly #instance = crypto.randomUUID();",
    wrong: 'readonly #instance = "";',
  },
  "a page of another size is taken from memory": {
    file: `${log}/pages.ts`,
    right: " || this.#first.limit !== limit",
    wrong: "",
  },
  "the page after a cursor skips the oldest": {
    file: `${log}/ranges.ts`,
    right: "const low = Math.max(floor, cursor) + 1;\n  const high = Math.min(newest, low + limit - 1);",
    wrong: "const high = newest;\n  const low = Math.max(floor, cursor, high - limit) + 1;",
  },
  "the page before a cursor has the cursor": {
    file: `${log}/ranges.ts`,
    right: "range: { low, high: cursor - 1 }",
    wrong: "range: { low, high: cursor }",
  },
  "an unknown cursor is the oldest message": {
    file: `${log}/pages.ts`,
    right: 'if (cursor === null) return { outcome: "unknown_cursor" };',
    wrong: "if (cursor === null) return this.read({ page: 1, limit: position.limit }, undefined);",
  },
};
