import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of who has a chat: the bot of its channel, or people. */
export const HANDOVER_SABOTEURS = wrongVersions({
  "src/chats/object/handover.ts": {
    "the bot goes on while people have the chat": ["return isBot && this.#stored().bot === null;", "return false;"],
    "a silent bot keeps the chat": ["if (dueAt === null || dueAt > now) return;", "return;"],
    "the time of the bot begins again with each message": [
      "waitingSince = message.isBot ? null : (waitingSince ?? message.at);",
      "waitingSince = null;",
    ],
    "a chat is handed over again": ["if (this.#stored().bot === null) return null;\n    // Those", "// Those"],
  },
  "src/chats/object/echoes.ts": {
    "what is written in the app takes nothing over": [
      `draft.writtenIn === "app" ? handover.takenOver(null) : null;`,
      "null;",
    ],
  },
  "src/chats/object/stored-details.ts": {
    "what the bot has scheduled stays": ["if (handover?.isToPeople) this.#parts.scheduled.handedOver();", ""],
  },
  "src/chats/object/current-activity.ts": {
    "the contact does not wait for the people who got the chat": [
      "return { unansweredSince: waitsSince, askedAt: from, isUncounted: false };",
      "return {};",
    ],
  },
  "src/chats/object/log/exchange.ts": {
    "the message of a handover answers the contact": [
      "answersNothing: row.answersNothing === 1",
      "answersNothing: false",
    ],
  },
});
