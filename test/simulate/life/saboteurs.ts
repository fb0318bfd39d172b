import { wrongVersions } from "../objects/wrong-versions.ts";
import { ACT_SABOTEURS } from "./act-saboteurs.ts";
import { ANSWER_SABOTEURS } from "./answer-saboteurs.ts";
import { CHANGE_SABOTEURS } from "./change-saboteurs.ts";
import { CONTENT_SABOTEURS } from "./content-saboteurs.ts";
import { ECHO_SABOTEURS } from "./echo-saboteurs.ts";
import { FILE_SABOTEURS, RARE_FILE_SABOTEURS } from "./file-saboteurs.ts";
import { HANDOVER_SABOTEURS } from "./handover-saboteurs.ts";
import { LABEL_SABOTEURS } from "./label-saboteurs.ts";
import { PAGE_SABOTEURS } from "./page-saboteurs.ts";
import { WORK_SABOTEURS } from "./work-saboteurs.ts";

/** Wrong versions of the service, each with one wrong place, which the simulation finds within a few hundred seeds. */
const PLAIN_SABOTEURS = wrongVersions({
  "src/chats/object/scheduled/scheduled-messages.ts": {
    "a message that took its place is still scheduled": [
      "this.#parts.store.place(identity, row, () => this.#rows.remove(row.message.id));",
      "this.#parts.store.place(identity, row, () => {});",
    ],
    "a message leaves the scheduled ones after the commit in which it takes its place": [
      "() => this.#rows.remove(row.message.id));",
      "() => void setTimeout(() => this.#rows.remove(row.message.id), 10));",
    ],
    "a canceled message stays scheduled": [
      `const message = withStatus(row.message, { status: "CANCELED", error: null, at });\n    this.#end(`,
      `const message = withStatus(row.message, { status: "CANCELED", error: null, at });\n    if (message.expiresAt === undefined) this.#end(`,
    ],
    "a key does not find its scheduled message": [
      "this.#rows.entries().find((each) => each.dedupe === dedupe)",
      "undefined",
    ],
    "a key does not find its message that ended without a place": ["this.ended.byDedupe(dedupe)", "null"],
    "a redaction leaves the text of a scheduled message": [
      "const message = redacted(row.message, at);",
      "const message = { ...redacted(row.message, at), content: row.message.content };",
    ],
    "a redaction leaves the message scheduled": [
      "      this.#end(blank,",
      "      if (message.expiresAt === undefined) this.#end(blank,",
    ],
    "an accepted message has no event": ["this.#commit([scheduledEvent(message), ...", "this.#commit([..."],
    "the list of scheduled messages is not sorted": [".sort(bySoonest);\n    const page", ";\n    const page"],
  },
  "src/chats/object/scheduled/decisions.ts": {
    "a message takes its place a minute before its time": ["return dueAt <= now;", "return dueAt <= now + 60_000;"],
    "due messages take their places in the order in which they were accepted": [
      "return one.dueAt - other.dueAt || one.turn - other.turn;",
      "return one.turn - other.turn;",
    ],
    "an expired message takes its place": [
      "if (expiresAt !== null && expiresAt <= now) return",
      "if (expiresAt !== null && expiresAt <= now - 3_600_000) return",
    ],
    "a due message fails at once if the queue has no room": [
      `if (limit === "chat_full" || now - dueAt >= BACKLOG_DEADLINE_MS) return`,
      "if (limit !== null) return",
    ],
    "messages without a place are removed too early": ["KEPT_MS = 30 * 86_400_000", "KEPT_MS = 20 * 86_400_000"],
    "a message that rests is forgotten for a day": [
      "return rest && rest.since <= now ? Math.max(dueAt, rest.until) : dueAt;",
      "return rest ? Math.max(dueAt, rest.until + 86_400_000) : dueAt;",
    ],
  },
  "src/chats/object/store-messages.ts": {
    "a message gets a new id with its place": [
      "const placed = placedMessage(message, position, isDelivered(identity));",
      "const placed = { ...placedMessage(message, position, isDelivered(identity)), id: message.id + position.seq };",
    ],
    "scheduled messages count as queued": [
      "const depth = this.#parts.depth();",
      "const depth = this.#parts.depth() + JSON.parse(scheduled.list(1_000, null)).messages.length;",
    ],
    "a message is sent again twice": ["if (resendOf != null) return", "if (resendOf != null) return null; return"],
    "a message loses its key with its place": [
      "{ ...columns, message: placed,",
      "{ ...columns, dedupe: null, message: placed,",
    ],
  },
  "src/chats/object/chat-parts.ts": {
    "nothing is delivered while a message is scheduled": [
      `if (!identity || identity.channelKind === "web") return null;`,
      `if (!identity || identity.channelKind === "web" || this.scheduled.nextDueAt() !== null) return null;`,
    ],
    "the alarm of the next due message is forgotten": [
      "earliest([report.changed(), scheduled.dueAt(now), ...ofWork, ...ofSearch])",
      "report.changed()",
    ],
    "a deletion that broke off is not continued": [
      "expiry: queue.expiry, queue, work, report, contact, retention, erasure,",
      `expiry: queue.expiry, queue, work, report, contact, erasure, retention: {
      dueAt: () => null, run: (now: number) => retention.run(now), forget: () => retention.forget(),
    },`,
    ],
  },
  "src/chats/object/scheduled/scheduled-rows.ts": {
    "a move does not reach the alarm": [
      "if (entry) this.#entries().set(id, { ...entry, dueAt, timedBy: timedBy ?? entry.timedBy });",
      "",
    ],
    "a move is answered and its time is not stored": [
      "set doc = ?, due_at = ?, moved",
      "set doc = ?, due_at = due_at + 0 * ?, moved",
    ],
  },
  "src/chats/object/cancel-and-resend.ts": {
    "a cancellation comes too late and is answered as done": [
      `if (status !== "CANCELED" && !queue.cancel(row.seq)) return { outcome: "not_cancelable" };`,
      `if (status !== "CANCELED") queue.cancel(row.seq);`,
    ],
    "a message is sent again in its old place": [
      "    return this.#parts.store.outbound(",
      `    if (prepared.outcome === "prepared" && message.seq !== null) {
      const again = this.#parts.log.writeStatus(message as Message, { status: "QUEUED", error: null, at: Date.now() });
      return { outcome: "stored", doc: JSON.stringify(again), replayed: false };
    }
    return this.#parts.store.outbound(`,
    ],
  },
  "src/chats/object/delivery/cancelable.ts": {
    "a message is canceled while it is being sent": [
      "const isOpen = delivery.startedAt !== null && !isMarked;",
      "const isOpen = false;",
    ],
  },
  "src/chats/object/retention/decisions.ts": {
    "retention deletes a message an hour too early": [
      "isWaiting || at + kept > now",
      "isWaiting || at + kept > now + 3_600_000",
    ],
  },
  "src/chats/object/log/floor.ts": {
    "the floor of a chat is raised and nothing is deleted": [
      `this.#messages.run("delete from messages where seq > ? and seq <= ?", this.seq, seq);`,
      "",
    ],
    "retention deletes one message beyond the floor": [
      `this.#messages.run("delete from messages where seq > ? and seq <= ?", this.seq, seq);`,
      `this.#messages.run("delete from messages where seq > ? and seq <= ?", this.seq, seq + 1);`,
    ],
    "the sequence starts again when all messages are deleted": [
      "const floor = { seq, at, queued };",
      `const isLast = this.#messages.run("select 1 from messages where seq > ?", seq).length === 0;
    const floor = { seq: isLast ? 0 : seq, at, queued };`,
    ],
  },
  "src/chats/object/scheduled/ended-without-seq.ts": {
    "an instance does not notice that a message ended without a place": [
      "this.#oldestAt = undefined;\n  }\n\n  /** Writes",
      "}\n\n  /** Writes",
    ],
  },
});

/** These take 150 to 3,000 seeds, so `npm run test:deep` leaves them out. */
const RARE_SABOTEURS = wrongVersions({
  "src/chats/object/delivery/head.ts": {
    "the expiry is not checked again after a permit": ["current.isExpired || ", ""],
  },
  "src/chats/object/scheduled/scheduled-messages.ts": {
    "a send takes the room for which a due message waits": [
      `if (this.#tries.isForRoom && this.#limit() !== "chat_backlog") this.#tries.goOn();`,
      "",
    ],
    "a deleted chat's scheduled messages stay in memory": [
      "  forget(): void {\n    this.#forgetRows();\n    this.#tries.forget();",
      "  forget(): void {\n    this.#tries.forget();",
    ],
  },
  "src/chats/object/retention/retention.ts": {
    "retention trusts what the chat was told long ago": ["await report.repeat();", "this.#isConfirmed = true;"],
  },
  "src/platform/object/due-work.ts": {
    "a long delivery delays due messages": [
      "await this.#setAlarm(this.#nextOf(works));",
      "await this.#setAlarm(this.#nextOf(works.some(isUnderWay) ? works.filter(isUnderWay) : works));",
    ],
  },
  "src/chats/object/edits-and-reactions.ts": {
    "an edit back to an earlier text is forgotten": [`if (at > latest) heard.note(seq, "edit", at);`, ""],
    "an edit that changes nothing has an event": [
      "if (message.content === content) {",
      "if (message.content === content && at === latest) {",
    ],
  },
  "src/chats/object/retention/decisions.ts": {
    "retention deletes a message that waits for its network": ["isWaiting || at + kept > now", "at + kept > now"],
  },
  "src/chats/object/redactions.ts": {
    "a redaction of a scheduled message is answered before the bytes are gone": [
      "if (!(await files.deleteNow(id)))",
      `if (id === "")`,
    ],
  },
});

/** Those that a few hundred seeds find. */
export const COMMON_SABOTEURS = {
  ...PLAIN_SABOTEURS,
  ...ANSWER_SABOTEURS,
  ...PAGE_SABOTEURS,
  ...CONTENT_SABOTEURS,
  ...CHANGE_SABOTEURS,
  ...ACT_SABOTEURS,
  ...FILE_SABOTEURS,
  ...ECHO_SABOTEURS,
  ...HANDOVER_SABOTEURS,
  ...WORK_SABOTEURS,
  ...LABEL_SABOTEURS,
};

export const LIFE_SABOTEURS = {
  ...COMMON_SABOTEURS,
  ...RARE_SABOTEURS,
  ...RARE_FILE_SABOTEURS,
};
