import type { Replacement } from "../objects/bundle.ts";

const input = "src/chats/object/visitors/visitor-input.ts";
const queries = "src/chats/object/visitors/queries.ts";
const socketCheck = "src/chats/object/visitors/socket-check.ts";
const sockets = "src/chats/object/visitors/visitor-sockets.ts";

/** Wrong versions of the service that tell visitors' pages something else than what is stored. */
export const PAGE_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a page that connects again gets what it has": {
    file: sockets,
    right: "rangeAfter(log.bounds(), after, PAGE_SIZE)",
    wrong: "rangeAfter(log.bounds(), after - 1, PAGE_SIZE)",
  },
  "a page that connects again misses a message": {
    file: sockets,
    right: "rangeAfter(log.bounds(), after, PAGE_SIZE)",
    wrong: "rangeAfter(log.bounds(), after && after + 1, PAGE_SIZE)",
  },
  "a page is not told what another one writes": {
    file: sockets,
    right: "this.#visitorSockets().filter((other) => other !== socket);",
    wrong: "[];",
  },
  "a page is told that a message is stored under another number": {
    file: input,
    right: "sendFrame([socket], storedFrame(id, answer.doc));",
    wrong: "sendFrame([socket], { ...storedFrame(id, answer.doc), seq: this.#parts.log.newest().seq } as ServerFrame);",
  },
  "a page that connects again keeps what was redacted meanwhile": {
    file: queries,
    right: '["message.redacted", "message.edited",',
    wrong: '["message.edited",',
  },
  "an acknowledgment is not told": {
    file: sockets,
    right:
      'for (const { seq } of changed) this.#broadcast(this.#visitorSockets(), () => ({ type: "status", seq, status }));',
    wrong: "",
  },
  "an acknowledgment takes back another": {
    file: queries,
    right: `status === "READ" ? "DELIVERED" : "SENT";`,
    wrong: `status === "READ" ? "DELIVERED" : "READ";`,
  },
  "a frame passes those that wait for a check": {
    file: socketCheck,
    right: "    if (this.#waiting) {\n      this.#waiting.push(action);\n    }",
    wrong: "    if (this.#waiting) {\n      action();\n    }",
  },
};
