import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the state of a chat's work. */
export const WORK_SABOTEURS = wrongVersions({
  "src/chats/object/chat-work.ts": {
    "a snooze goes on": ["if (until === null || until > now) return;", "return;"],
    "a snooze ends at once": ["if (until === null || until > now) return;", "if (until === null) return;"],
    "no alarm ends a snooze": [
      "return this.#parts.adoption.identity() ? this.#stored().snoozedUntil : null;",
      "return null;",
    ],
    "a closed chat is closed again": [
      "if (state === before.state && snoozedUntil === before.snoozedUntil) return null;",
      "",
    ],
    "a state is told and not stored": [
      "write: () => kv.put(KEY, { state, snoozedUntil, ...(closedAfter !== undefined && { closedAfter }) }),",
      "write: () => {},",
    ],
    "a lost instance forgets that it closed the chat": [
      'const closedAfter = state === "closed" ? this.#parts.log.newest().seq : before.closedAfter;',
      "const closedAfter = before.closedAfter;",
    ],
  },
  "src/chats/object/store-messages.ts": {
    "a contact's message leaves a closed chat closed": [
      "const opening = this.#parts.work.changeTo(OPEN, null);",
      "const opening = null;",
    ],
  },
});
