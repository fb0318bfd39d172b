import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service that tell visitors' pages something else than what is stored. */
export const PAGE_SABOTEURS = wrongVersions({
  "src/chats/object/visitors/visitor-sockets.ts": {
    "a page that connects again gets what it has": [
      "rangeAfter(log.bounds(), after, PAGE_SIZE)",
      "rangeAfter(log.bounds(), after - 1, PAGE_SIZE)",
    ],
    "a page that connects again misses a message": [
      "rangeAfter(log.bounds(), after, PAGE_SIZE)",
      "rangeAfter(log.bounds(), after && after + 1, PAGE_SIZE)",
    ],
    "a page is not told what another one writes": [
      "this.#visitorSockets().filter((other) => other !== socket);",
      "[];",
    ],
    "an acknowledgment is not told": [
      'for (const { seq } of changed) this.#broadcast(this.#visitorSockets(), () => ({ type: "status", seq, status }));',
      "",
    ],
  },
  "src/chats/object/visitors/visitor-input.ts": {
    "a page is told that a message is stored under another number": [
      "sendFrame([socket], storedFrame(id, answer.doc));",
      "sendFrame([socket], { ...storedFrame(id, answer.doc), seq: this.#parts.log.newest().seq } as ServerFrame);",
    ],
  },
  "src/chats/object/visitors/queries.ts": {
    "a page that connects again keeps what was redacted meanwhile": [
      '["message.redacted", "message.edited",',
      '["message.edited",',
    ],
    "an acknowledgment takes back another": [
      `status === "READ" ? "DELIVERED" : "SENT";`,
      `status === "READ" ? "DELIVERED" : "READ";`,
    ],
  },
  "src/chats/object/visitors/socket-check.ts": {
    "a frame passes those that wait for a check": [
      "    if (this.#waiting) {\n      this.#waiting.push(action);\n    }",
      "    if (this.#waiting) {\n      action();\n    }",
    ],
  },
});
