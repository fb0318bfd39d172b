import type { Replacement } from "../objects/bundle.ts";
import { ACT_SABOTEURS } from "./act-saboteurs.ts";
import { ANSWER_SABOTEURS } from "./answer-saboteurs.ts";
import { CHANGE_SABOTEURS } from "./change-saboteurs.ts";
import { CONTENT_SABOTEURS } from "./content-saboteurs.ts";
import { FILE_SABOTEURS, RARE_FILE_SABOTEURS } from "./file-saboteurs.ts";
import { PAGE_SABOTEURS } from "./page-saboteurs.ts";

const actions = "src/chats/object/message-actions.ts";
const chatParts = "src/chats/object/chat-parts.ts";
const dueWork = "src/platform/object/due-work.ts";
const decisions = "src/chats/object/scheduled/decisions.ts";
const ended = "src/chats/object/scheduled/ended-rows.ts";
const floor = "src/chats/object/log/floor.ts";
const cancelable = "src/chats/object/delivery/cancelable.ts";
const head = "src/chats/object/delivery/head.ts";
const retention = "src/chats/object/retention/retention.ts";
const retentionDecisions = "src/chats/object/retention/decisions.ts";
const rows = "src/chats/object/scheduled/scheduled-rows.ts";
const scheduled = "src/chats/object/scheduled/scheduled-messages.ts";
const store = "src/chats/object/store-messages.ts";

/** Wrong versions of the service, each with one wrong place, which the simulation finds within a few hundred seeds. */
const PLAIN_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a message that took its place is still scheduled": {
    file: scheduled,
    right: "this.#parts.store.place(identity, row, () => this.#rows.remove(row.message.id));",
    wrong: "this.#parts.store.place(identity, row, () => {});",
  },
  "a message leaves the scheduled ones after the commit in which it takes its place": {
    file: scheduled,
    right: "() => this.#rows.remove(row.message.id));",
    wrong: "() => void setTimeout(() => this.#rows.remove(row.message.id), 10));",
  },
  "a message takes its place a minute before its time": {
    file: decisions,
    right: "return dueAt <= now;",
    wrong: "return dueAt <= now + 60_000;",
  },
  "due messages take their places in the order in which they were accepted": {
    file: decisions,
    right: "return one.dueAt - other.dueAt || one.turn - other.turn;",
    wrong: "return one.turn - other.turn;",
  },
  "a message gets a new id with its place": {
    file: store,
    right: "const placed = placedMessage(message, position, isDelivered(identity));",
    wrong:
      "const placed = { ...placedMessage(message, position, isDelivered(identity)), id: message.id + position.seq };",
  },
  "nothing is delivered while a message is scheduled": {
    file: chatParts,
    right: `if (!identity || identity.channelKind === "web") return null;`,
    wrong: `if (!identity || identity.channelKind === "web" || this.scheduled.nextDueAt() !== null) return null;`,
  },
  "scheduled messages count as queued": {
    file: store,
    right: "const depth = this.#parts.depth();",
    wrong: "const depth = this.#parts.depth() + JSON.parse(scheduled.list(1_000, null)).messages.length;",
  },
  "the alarm of the next due message is forgotten": {
    file: chatParts,
    right: "this.alarm.by(earliest([this.report.changed(), this.scheduled.dueAt(Date.now())]))",
    wrong: "this.alarm.by(this.report.changed())",
  },
  "a move does not reach the alarm": {
    file: rows,
    right: "if (entry) this.#entries().set(id, { ...entry, dueAt, timedBy: timedBy ?? entry.timedBy });",
    wrong: "",
  },
  "a move is answered and its time is not stored": {
    file: rows,
    right: "set doc = ?, due_at = ?, moved",
    wrong: "set doc = ?, due_at = due_at + 0 * ?, moved",
  },
  "a cancellation comes too late and is answered as done": {
    file: actions,
    right: `if (status !== "CANCELED" && !queue.cancel(row.seq)) return { outcome: "not_cancelable" };`,
    wrong: `if (status !== "CANCELED") queue.cancel(row.seq);`,
  },
  "a message is canceled while it is being sent": {
    file: cancelable,
    right: "const isOpen = delivery.startedAt !== null && !isMarked;",
    wrong: "const isOpen = false;",
  },
  "a canceled message stays scheduled": {
    file: scheduled,
    right: `const message = withStatus(row.message, { status: "CANCELED", error: null, at });\n    this.#end(`,
    wrong: `const message = withStatus(row.message, { status: "CANCELED", error: null, at });\n    if (message.expiresAt === undefined) this.#end(`,
  },
  "an expired message takes its place": {
    file: decisions,
    right: "if (expiresAt !== null && expiresAt <= now) return",
    wrong: "if (expiresAt !== null && expiresAt <= now - 3_600_000) return",
  },
  "the expiry is not checked again after a permit": {
    file: head,
    right: "current.isExpired || ",
    wrong: "",
  },
  "a message is sent again in its old place": {
    file: actions,
    right: "    return this.#parts.store.outbound(",
    wrong: `    if (prepared.outcome === "prepared" && message.seq !== null) {
      const again = this.#parts.log.writeStatus(message as Message, { status: "QUEUED", error: null, at: Date.now() });
      return { outcome: "stored", doc: JSON.stringify(again), replayed: false };
    }
    return this.#parts.store.outbound(`,
  },
  "a message is sent again twice": {
    file: store,
    right: "if (resendOf != null) return",
    wrong: "if (resendOf != null) return null; return",
  },
  "a key does not find its scheduled message": {
    file: scheduled,
    right: "this.#rows.entries().find((each) => each.dedupe === dedupe)",
    wrong: "undefined",
  },
  "a key does not find its message that ended without a place": {
    file: scheduled,
    right: "this.ended.byDedupe(dedupe)",
    wrong: "null",
  },
  "a message loses its key with its place": {
    file: store,
    right: "{ ...columns, message: placed,",
    wrong: "{ ...columns, dedupe: null, message: placed,",
  },
  "a redaction leaves the text of a scheduled message": {
    file: scheduled,
    right: "const message = redacted(row.message, at);",
    wrong: "const message = { ...redacted(row.message, at), content: row.message.content };",
  },
  "a redaction leaves the message scheduled": {
    file: scheduled,
    right: "      this.#end(blank,",
    wrong: "      if (message.expiresAt === undefined) this.#end(blank,",
  },
  "a due message fails at once if the queue has no room": {
    file: decisions,
    right: `if (limit === "chat_full" || now - dueAt >= BACKLOG_DEADLINE_MS) return`,
    wrong: "if (limit !== null) return",
  },
  "messages without a place are removed too early": {
    file: decisions,
    right: "KEPT_MS = 30 * 86_400_000",
    wrong: "KEPT_MS = 20 * 86_400_000",
  },
  "an accepted message has no event": {
    file: scheduled,
    right: "this.#commit([scheduledEvent(message)], () =>",
    wrong: "this.#commit([], () =>",
  },
  "the list of scheduled messages is not sorted": {
    file: scheduled,
    right: ".sort(bySoonest);\n    const page",
    wrong: ";\n    const page",
  },
  "a message that rests is forgotten for a day": {
    file: decisions,
    right: "return rest && rest.since <= now ? Math.max(dueAt, rest.until) : dueAt;",
    wrong: "return rest ? Math.max(dueAt, rest.until + 86_400_000) : dueAt;",
  },
  "retention deletes a message that waits for its network": {
    file: retentionDecisions,
    right: "isWaiting || at + kept > now",
    wrong: "at + kept > now",
  },
  "retention deletes a message an hour too early": {
    file: retentionDecisions,
    right: "isWaiting || at + kept > now",
    wrong: "isWaiting || at + kept > now + 3_600_000",
  },
  "the floor of a chat is raised and nothing is deleted": {
    file: floor,
    right: `sql.exec("delete from messages where seq > ? and seq <= ?", this.seq, seq);`,
    wrong: "",
  },
  "retention deletes one message beyond the floor": {
    file: floor,
    right: `sql.exec("delete from messages where seq > ? and seq <= ?", this.seq, seq);`,
    wrong: `sql.exec("delete from messages where seq > ? and seq <= ?", this.seq, seq + 1);`,
  },
  "the sequence starts again when all messages are deleted": {
    file: floor,
    right: "const floor = { seq, at, queued };",
    wrong: `const isLast = sql.exec("select 1 from messages where seq > ?", seq).toArray().length === 0;
    const floor = { seq: isLast ? 0 : seq, at, queued };`,
  },
  "a deletion that broke off is not continued": {
    file: chatParts,
    right: "expiry: queue.expiry, queue, report, contact, retention, erasure,",
    wrong: `expiry: queue.expiry, queue, report, contact, erasure, retention: {
      dueAt: () => null, run: (now: number) => retention.run(now), forget: () => retention.forget(),
    },`,
  },
  "an instance does not notice that a message ended without a place": {
    file: ended,
    right: "this.#oldestAt = undefined;\n  }\n\n  /** Writes",
    wrong: "}\n\n  /** Writes",
  },
};

/** These take up to 3,000 seeds, so `npm run test:deep` leaves them out. */
const RARE_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a send takes the room for which a due message waits": {
    file: scheduled,
    right: `if (this.#rest?.isForRoom && this.#limit() !== "chat_backlog") this.#rest = null;`,
    wrong: "",
  },
  "retention trusts what the chat was told long ago": {
    file: retention,
    right: "await report.repeat();",
    wrong: "this.#isConfirmed = true;",
  },
  "a long delivery delays due messages": {
    file: dueWork,
    right: "await this.#setAlarm(this.#nextOf(works));",
    wrong: "await this.#setAlarm(this.#nextOf(works.some(isUnderWay) ? works.filter(isUnderWay) : works));",
  },
  "a deleted chat's scheduled messages stay in memory": {
    file: scheduled,
    right: "  forget(): void {\n    this.#forgetRows();\n    this.#rest = null;",
    wrong: "  forget(): void {\n    this.#rest = null;",
  },
};

/** Those that a few hundred seeds find. */
export const COMMON_SABOTEURS = {
  ...PLAIN_SABOTEURS,
  ...ANSWER_SABOTEURS,
  ...PAGE_SABOTEURS,
  ...CONTENT_SABOTEURS,
  ...CHANGE_SABOTEURS,
  ...ACT_SABOTEURS,
  ...FILE_SABOTEURS,
};

export const LIFE_SABOTEURS = { ...COMMON_SABOTEURS, ...RARE_SABOTEURS, ...RARE_FILE_SABOTEURS };
