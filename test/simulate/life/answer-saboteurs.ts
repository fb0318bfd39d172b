import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service that keep what they should, and tell callers something else. */
export const ANSWER_SABOTEURS = wrongVersions({
  "src/chats/object/idempotent-replay.ts": {
    "a key returns its message to another request": [
      "first.fingerprint !== null && first.fingerprint !== draft.fingerprint",
      "first.fingerprint === draft.id",
    ],
    "a redacted message's key is refused": ["first.fingerprint !== null && ", ""],
  },
  "src/chats/object/store-messages.ts": {
    "what the network sends again is stored again": [
      "const dedupe = receivedDedupe(draft.dedupe);",
      "const dedupe = receivedDedupe(draft.id);",
    ],
  },
  "src/chats/object/log/new-message.ts": {
    "times run backwards with the clock": ["Math.max(now, newest.at, createdAt)", "Math.max(now, createdAt)"],
  },
  "src/chats/object/log/pages.ts": {
    "a page that has changed is unchanged": ["this.#log.changes}`;", "this.#log.newest().seq}`;"],
    "two instances have the same versions": ["readonly #instance = crypto.randomUUID();", 'readonly #instance = "";'],
    "a page of another size is taken from memory": [" || this.#first.limit !== limit", ""],
    "an unknown cursor is the oldest message": [
      'if (cursor === null) return { outcome: "unknown_cursor" };',
      "if (cursor === null) return this.read({ page: 1, limit: position.limit }, undefined);",
    ],
  },
  "src/chats/object/log/ranges.ts": {
    "the page after a cursor skips the oldest": [
      "const low = Math.max(floor, cursor) + 1;\n  const high = Math.min(newest, low + limit - 1);",
      "const high = newest;\n  const low = Math.max(floor, cursor, high - limit) + 1;",
    ],
    "the page before a cursor has the cursor": ["range: { low, high: cursor - 1 }", "range: { low, high: cursor }"],
  },
});
