import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service, each with one wrong place, which the simulation finds within a few hundred seeds. */
export const PLAIN_SABOTEURS = wrongVersions({
  "src/organizations/object/chat-reports.ts": {
    "a report counts although a newer one is stored": ["if (report.number > row.report) {", "{"],
    "a repeated report points to its events twice": [
      "Math.max(events?.first ?? 0, row.events + 1);",
      "events?.first ?? 0;",
    ],
  },
  "src/organizations/object/chat-table.ts": {
    "a chat that is deleted still counts": ["chats: -1,", ""],
    "a deleted chat keeps its other addresses": [
      "for (const address of addressesOf(row)) {",
      "for (const address of [row.address]) {",
    ],
  },
  "src/chats/object/erasure.ts": {
    "a chat's object is erased without a look at its life": ["if (newest > life) return;", ""],
  },
  "src/organizations/object/open-chat.ts": {
    "an address gets a chat that is being deleted": [
      `if (found?.state === "deleting") return refused({ outcome: "deleting", chatId: found.id });`,
      "",
    ],
  },
  "src/organizations/object/deletions.ts": {
    "a row is deleted before the chat's object is emptied": [
      "await this.#eraseObject(row);\n      if (this.#hasTables()) this.#chats.endDeletion(id, life);",
      "this.#chats.endDeletion(id, life);\n      await this.#eraseObject(row);",
    ],
  },
  "src/chats/object/identity.ts": {
    "no tombstone is written": [`kv.put("tombstone", tombstone);`, "void tombstone;"],
  },
  "src/organizations/object/organization-parts.ts": {
    "a chat that nobody adopted stays so": ["feed, adoptions, deletions,", "feed, deletions,"],
  },
  "src/chats/object/redactions.ts": {
    "a redaction is answered before the report": [
      `if (!isReported || !isDeleted) return { outcome: "not_reported" };`,
      "",
    ],
  },
  "src/chats/object/chat-report.ts": {
    "a report that failed is not repeated": [
      "    this.#times.begun();\n    this.#mustRepeat = true;",
      "    this.#times.begun();\n    this.#eventsReported = report.events;",
    ],
  },
  "src/chats/object/chat-parts.ts": {
    "the chat's alarm is not set when a message is stored": [
      "    await this.alarm.by(this.#dueAt(Date.now()));\n    this.subscriptions.start();",
      "    this.subscriptions.start();",
    ],
  },
});

/** These take up to 2,000 seeds, so `npm run test:deep` leaves them out. */
const RARE_SABOTEURS = wrongVersions({
  "src/organizations/object/organization-object.ts": {
    "a report counts for another life": [
      `if (row?.life !== report.life) return { outcome: "unknown" };`,
      `if (!row) return { outcome: "unknown" };`,
    ],
  },
  "src/organizations/object/chat-table.ts": {
    "the end of a deletion removes the row of a later life": ["if (row?.life !== life) return;", "if (!row) return;"],
    "a later life may be as great as the one before": ["Math.max(now, this.#floor() + 1)", "now"],
  },
  "src/chats/object/erasure.ts": {
    "any alarm ends the time of a tombstone": [
      "if (!tombstone || tombstone.until > now) return;",
      "if (!tombstone) return;",
    ],
  },
  "src/organizations/object/organization-parts.ts": {
    "a deletion that is interrupted is not continued": ["adoptions, deletions, walk,", "adoptions, walk,"],
  },
  "src/chats/object/chat-report.ts": {
    "a new instance takes a report for granted": [
      "    this.#repeatAsNewInstance();\n    const changes =",
      "    const changes =",
    ],
  },
  "src/organizations/object/existence.ts": {
    "an old answer of D1 counts after the organization was closed": [
      "    if (closings !== this.#closings) return this.knows(organizationId, channelId);\n",
      "",
    ],
  },
});

export const ORGANIZATION_SABOTEURS = { ...PLAIN_SABOTEURS, ...RARE_SABOTEURS };
