import type { Replacement } from "../objects/bundle.ts";

const organization = "src/organizations/object/organization-object.ts";
const organizationParts = "src/organizations/object/organization-parts.ts";
const chatTable = "src/organizations/object/chat-table.ts";
const existence = "src/organizations/object/existence.ts";
const deletions = "src/organizations/object/deletions.ts";
const opening = "src/organizations/object/opening.ts";
const erasure = "src/chats/object/erasure.ts";
const chatParts = "src/chats/object/chat-parts.ts";
const redactions = "src/chats/object/redactions.ts";
const report = "src/chats/object/chat-report.ts";
const identity = "src/chats/object/identity.ts";

/** Wrong versions of the service, each with one wrong place, which the simulation finds within a few hundred seeds. */
export const PLAIN_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a report counts although a newer one is stored": {
    file: chatTable,
    right: "if (report.number > row.report) {",
    wrong: "{",
  },
  "a chat's object is erased without a look at its life": {
    file: erasure,
    right: "if (newest > life) return;",
    wrong: "",
  },
  "an address gets a chat that is being deleted": {
    file: opening,
    right: `if (found?.state === "deleting") return refused({ outcome: "deleting", chatId: found.id });`,
    wrong: "",
  },
  "a row is deleted before the chat's object is emptied": {
    file: deletions,
    right: "await this.#eraseObject(row);\n      if (this.#hasTables()) this.#chats.endDeletion(id, life);",
    wrong: "this.#chats.endDeletion(id, life);\n      await this.#eraseObject(row);",
  },
  "no tombstone is written": {
    file: identity,
    right: `kv.put("tombstone", tombstone);`,
    wrong: "void tombstone;",
  },
  "a repeated report points to its events twice": {
    file: chatTable,
    right: "Math.max(events?.first ?? 0, row.events + 1);",
    wrong: "events?.first ?? 0;",
  },
  "a chat that nobody adopted stays so": {
    file: organizationParts,
    right: "feed, adoptions, deletions,",
    wrong: "feed, deletions,",
  },
  "a redaction is answered before the report": {
    file: redactions,
    right: `if (!isReported || !isDeleted) return { outcome: "not_reported" };`,
    wrong: "",
  },
  "a report that failed is not repeated": {
    file: report,
    right: "    this.#failures++;\n    this.#mustRepeat = true;",
    wrong: "    this.#failures++;\n    this.#eventsReported = report.events;",
  },
  "a chat that is deleted still counts": {
    file: chatTable,
    right: "chats: -1,",
    wrong: "",
  },
  "a deleted chat keeps its other addresses": {
    file: chatTable,
    right: "for (const address of [row.address, ...othersOf(row)]) {",
    wrong: "for (const address of [row.address]) {",
  },
  "the chat's alarm is not set when a message is stored": {
    file: chatParts,
    right:
      "    await this.alarm.by(earliest([this.report.changed(), this.scheduled.dueAt(Date.now())]));\n    this.lines.start();",
    wrong: "    this.lines.start();",
  },
};

/** These take up to 2,000 seeds, so `npm test` leaves them out. */
const RARE_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a report counts for another life": {
    file: organization,
    right: `if (row?.life !== report.life) return { outcome: "unknown" };`,
    wrong: `if (!row) return { outcome: "unknown" };`,
  },
  "the end of a deletion removes the row of a later life": {
    file: chatTable,
    right: "if (row?.life !== life) return;",
    wrong: "if (!row) return;",
  },
  "any alarm ends the time of a tombstone": {
    file: erasure,
    right: "if (!tombstone || tombstone.until > now) return;",
    wrong: "if (!tombstone) return;",
  },
  "a later life may be as great as the one before": {
    file: chatTable,
    right: "Math.max(now, this.#floor() + 1)",
    wrong: "now",
  },
  "a deletion that is interrupted is not continued": {
    file: organizationParts,
    right: "adoptions, deletions, walk,",
    wrong: "adoptions, walk,",
  },
  "a new instance takes a report for granted": {
    file: report,
    right: "    this.#repeatAsNewInstance();\n    const changes =",
    wrong: "    const changes =",
  },
  "an old answer of D1 counts after the organization was closed": {
    file: existence,
    right: "    if (closings !== this.#closings) return this.knows(organizationId, channelId);\n",
    wrong: "",
  },
};

export const ORGANIZATION_SABOTEURS = { ...PLAIN_SABOTEURS, ...RARE_SABOTEURS };
