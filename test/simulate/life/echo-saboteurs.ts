import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of what becomes of messages that were written elsewhere. */
export const ECHO_SABOTEURS = wrongVersions({
  "src/chats/object/echoes.ts": {
    "an echo of the chat's own message is stored": [
      "return this.#parts.log.networkIds.message(dedupe) !== null;",
      "return this.#parts.log.networkIds.receivedMessage(dedupe) !== null;",
    ],
    "an echo that the network repeats is stored again": [
      `if (this.#isKnown(draft)) return { outcome: "repeated" };`,
      "draft = this.#isKnown(draft) ? { ...draft, dedupe: draft.dedupe + this.#parts.log.newest().seq } : draft;",
    ],
    "an echo is not held": ["    if (queue.isOutcomeOpen || this.hasSoon) {", "    if (false) {"],
    "a held echo that may take its place is dropped": [
      "else this.#placeHeld(identity, draft, n, heldAt);",
      "else this.#held.remove(n);",
    ],
    "a held echo is released while its outcome is open": [
      "const isOpen = queue.isOutcomeOpen;",
      "const isOpen = false;",
    ],
  },
  "src/chats/object/log/exchange.ts": {
    "an echo answers what came after it": [
      "waiting.filter((asked) => asked.wroteAt > answeredAt)",
      "waiting.filter(() => false)",
    ],
    "an echo answers nothing": ["waiting.filter((asked) => asked.wroteAt > answeredAt)", "waiting"],
  },
  "src/model/conversation-counts.ts": {
    "a message to the network's agent waits for an answer": [
      "if (since === null && !isStandby) wait(",
      "if (since === null) wait(",
    ],
  },
  "src/chats/object/store-messages.ts": {
    "a message is stored although the phone has answered": [
      "const text = crossingText(ifSeq, log) ?? soonText(scheduled, echoes);",
      "const text = soonText(scheduled, echoes);",
    ],
  },
});
