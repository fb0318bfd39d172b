import { wakeAt } from "../../../src/chats/object/delivery/retry.ts";
import { toDigits } from "../../../src/model/id.ts";
import type { PartOutcome } from "../../../src/model/network.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { Book, expiresAt, isQueued, type Row } from "./book.ts";
import { type Call, CallBook } from "./calls.ts";
import type { Grant } from "./channel-judge.ts";
import type { DeliveryWorld } from "./rules.ts";
import { LEASE_MS, StatusJudge } from "./status-judge.ts";

/** The alarm rings this often for nothing at most: when its time, or that of the report, has moved since it was set. */
const MAX_IDLE = 30;
const UNKNOWN_WAIT_MS = 90_000;

type OwedReport = "reportBroken" | "slowDown" | "reportProbe";

/** What must hold of one chat, kept apart from what the chat itself knows. */
export class ChatJudge {
  readonly book = new Book();
  readonly calls = new CallBook();
  readonly statuses: StatusJudge;
  /** When each message was done with. */
  readonly doneAt = new Map<number, number>();
  /** The permit of the attempt that comes next or is under way. */
  grant: Grant | null = null;
  readonly #world: DeliveryWorld;
  readonly #chat: SimulatedObject;
  readonly #kind: string;
  /** What the chat has yet to report to its channel. */
  readonly #owed = new Set<OwedReport>();
  /** The calls whose answers are not on disk yet. */
  readonly #answered = new Set<Call>();
  /** The attempt that is under way. */
  #sending: { seq: number; signal: AbortSignal; answer: PartOutcome | null; isBroken: boolean } | null = null;
  #acknowledged = 0;
  #losses = 0;
  /** The latest time that the chat's clock showed. */
  #latest = 0;
  /** How many alarms had rung when the chat last had something to do. */
  #ringsAtWork = 0;
  /** When an instance was lost, and no alarm has rung since. */
  #lostAt = Number.NEGATIVE_INFINITY;

  constructor(world: DeliveryWorld, chat: SimulatedObject, kind: string) {
    this.#world = world;
    this.#chat = chat;
    this.#kind = kind;
    this.statuses = new StatusJudge(world, chat, this.book, this.calls);
  }

  /** A client was told that the message is stored. */
  acknowledged(seq: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, seq);
  }

  /** The chat is about to call the network. */
  calling(messageId: string, part: number, signal: AbortSignal): Call {
    this.#notice();
    const { grant } = this;
    const seq = this.book.byId(messageId)?.seq ?? 0;
    if (!grant) throw new Error("The network is called without a permit");
    const isFirst = this.#sending?.signal !== signal;
    if (isFirst) this.#sending = { seq, signal, answer: null, isBroken: false };
    const known = { accepted: false, given: null, answer: null, isKnown: false };
    return { at: 0, seq, part, attempts: 0, isFirst, grant, ...known };
  }

  /** Whether an attempt of a message is under way. */
  isSending(seq: number): boolean {
    this.#notice();
    return this.#sending?.seq === seq;
  }

  /** The call leaves the chat. */
  called(call: Call): void {
    const { seq, part } = call;
    const world = this.#world;
    const { rows } = this.book;
    const row = rows[seq - 1] as Row;
    call.at = world.now;
    call.attempts = row.delivery.attempts;
    const before = this.calls.of(seq);
    const same = before.filter((one) => one.part === part);
    const name = () => `${this.#chat.name} message ${seq} part ${part} attempt ${call.attempts}`;
    const isInOrder = seq >= this.calls.lastSeq && rows.slice(0, seq - 1).every((other) => !isQueued(other));
    world.check("order", isInOrder, () => `${name()} was called out of order`);
    world.check("canceled", row.message.status !== "CANCELED", () => `${name()} is on the wire and was canceled`);
    world.check("once", !same.some(({ isKnown }) => isKnown), () => `${name()} was out already`);
    if (call.isFirst) {
      world.check("marked", row.delivery.startedAt !== null, () => `${name()} is not on disk`);
      world.check("final", isQueued(row), () => `${name()} is ${row.message.status}`);
      const late = this.#chat.now - expiresAt(row);
      world.check("expiry", late < 0, () => `${name()} began ${late} ms after it expired`);
    }
    const last = same.at(-1);
    if (last) this.#spaced(last, call, name);
    if (last && last.answer === null && last.accepted) world.count("a second copy may be sent");
    this.calls.add(call);
  }

  #spaced(last: Call, call: Call, name: () => string): void {
    const gap = call.at - last.at;
    const { answer } = last;
    const text = () => `${name()} came ${gap} ms after attempt ${last.attempts}, answered ${JSON.stringify(answer)}`;
    if (this.#kind === "whatsapp" && (answer === null || answer.outcome === "unknown")) {
      this.#world.check("wait", gap >= UNKNOWN_WAIT_MS, text);
    }
    if (answer?.outcome === "channel_broken" || (answer?.outcome === "moved" && last.attempts === 1)) return;
    const backoff = 0.8 * Math.min(600_000, 2_000 * 2 ** (last.attempts - 1));
    const wish = answer?.outcome === "retry" ? (answer.afterMs ?? 0) : 0;
    this.#world.check("schedule", gap >= Math.max(backoff, wish) - 1, text);
  }

  /** The network takes a call's part. */
  accepted(call: Call): void {
    const { seq, part } = call;
    call.accepted = true;
    const copies = this.calls.of(seq).filter((one) => one.part === part && one.accepted);
    const lost = copies.filter(({ isKnown }) => !isKnown).length;
    const text = () => `message ${seq} part ${part}: ${copies.length} copies`;
    this.#world.check("copies", copies.length - lost <= 1, text);
  }

  /** The chat has the answer of a call. */
  answered(call: Call, answer: PartOutcome): void {
    call.given = answer;
    this.#answered.add(call);
    if (this.#sending) this.#sending.answer = answer;
  }

  /** An attempt is over. @param outcome as it counts for the message */
  attempted(outcome: string): void {
    const { grant } = this;
    const sending = this.#sending;
    const world = this.#world;
    this.#sending = null;
    world.count(`outcome: ${outcome}`);
    if (!grant || !sending) return;
    const { seq, answer, isBroken } = sending;
    if (answer?.outcome === "channel_broken") {
      // Not the call that has just been answered: that is not on disk yet.
      const last = this.calls.of(seq).findLast((call) => call.answer?.outcome === "channel_broken");
      const isCause = grant.probe === null && last !== undefined && last.grant.epoch < grant.judgedProvenEpoch;
      if (isCause) world.count("a message that was the cause");
      const text = () => `message ${seq} broke its channel: ${isCause}, taken as ${outcome}`;
      world.check("blame", (outcome === "failed") === isCause, text);
    }
    if (isBroken || outcome === "channel_broken") this.owes("reportBroken");
    else {
      if (outcome === "retry" && answer?.outcome === "retry" && answer.wholeChannel) this.owes("slowDown");
      if (grant.probe !== null || grant.trial) this.owes("reportProbe");
    }
  }

  /** The chat learned what it must report to its channel. */
  owes(report: OwedReport): void {
    this.#owed.add(report);
  }

  /** A report was answered. That the channel is broken says all there is to say of it. */
  reported(report: string): void {
    if (report === "reportBroken") this.#owed.clear();
    this.#owed.delete(report as OwedReport);
  }

  /** A report was lost: those after it are not made. */
  reportsLost(): void {
    this.#owed.clear();
  }

  /** The chat asks for a permit, or rests. */
  owesNothing(): void {
    this.#notice();
    const text = () => `${this.#chat.name} did not report ${[...this.#owed].join()}`;
    this.#world.check("reports", this.#owed.size === 0, text);
  }

  /** The chat has committed. */
  committed(): void {
    this.#notice();
    // What was due at once stays so when the clock is set back.
    this.#latest = Math.max(this.#latest, this.#chat.now);
    const { book } = this;
    const { news } = this.statuses;
    const changed = book.read(this.#chat.storage);
    if (changed.length > 0) this.worked();
    for (const [before, after] of changed) {
      this.statuses.changed(before, after, this.#lostAt);
      const isSent = after.seq === this.#sending?.seq && before.message.status !== after.message.status;
      if (this.#sending && isSent && news?.error?.broken !== undefined) this.#sending.isBroken = true;
    }
    for (const call of this.#answered) {
      call.answer = call.given;
      call.isKnown ||= call.given?.outcome === "sent";
    }
    this.#answered.clear();
    for (const row of book.rows) {
      if (isQueued(row)) this.doneAt.delete(row.seq);
      else if (!this.doneAt.has(row.seq)) this.doneAt.set(row.seq, this.#world.now);
    }
    const isSet = this.#chat.storage.alarm !== null || this.#chat.isRinging;
    this.#world.check("alarm", !book.head || isSet, () => `${this.#chat.name} waits with no alarm`);
  }

  /** The chat had something to do. */
  worked(): void {
    this.#ringsAtWork = this.#chat.rings;
  }

  /** A turn has ended, or the chat was lost. If nothing is under way in the chat, the alarm is all that it has. */
  turnEnded(): void {
    this.#notice();
    const { isResting, hasRung, storage, name } = this.#chat;
    if (!isResting) return;
    this.owesNothing();
    if (hasRung) this.#lostAt = Number.NEGATIVE_INFINITY;
    const idle = this.#chat.rings - this.#ringsAtWork;
    this.#world.check("idle", idle <= MAX_IDLE, () => `${name} was woken ${idle} times for nothing`);
    const { head, rows } = this.book;
    if (!head) return;
    const { now } = this.#chat;
    const expiries = rows.filter((row) => isQueued(row) && row.delivery.startedAt === null).map(expiresAt);
    const due = Math.max(Math.min(wakeAt(head.delivery, this.#latest), ...expiries), this.#lostAt + LEASE_MS);
    const { alarm } = storage;
    const text = () => `${name} message ${head.seq} is due in ${due - now} ms, the alarm in ${(alarm ?? 0) - now}`;
    this.#world.check("due", alarm !== null && alarm <= due, text);
  }

  /** The chat's instance is lost between two turns. */
  lose(): void {
    this.#notice();
    const { isResting } = this.#chat;
    const lostAt = this.#lostAt;
    this.#chat.lose();
    this.#notice();
    // Then all that it had to do is on disk.
    if (isResting) this.#lostAt = lostAt;
    this.turnEnded();
  }

  /** All is over. */
  end(): void {
    const { rows } = this.book;
    const isDense = rows.every(({ seq }, at) => seq === at + 1) && rows.length >= this.#acknowledged;
    this.#world.check("stored", isDense, () => `${this.#chat.name} has ${rows.length} of ${this.#acknowledged}`);
    const callIds = rows.map(({ seq, message }) => message.id.slice(0, -toDigits(seq).length));
    // A repeated call is looked for by its time. The clocks may differ by a minute.
    const isEachOnce = new Set(callIds).size === rows.length || this.#chat.clockChanges > 0;
    this.#world.check("repeats", isEachOnce, () => `${this.#chat.name} has a message twice: ${callIds.join()}`);
    this.statuses.end();
  }

  /** What an instance knew and owed is lost with it. */
  #notice(): void {
    const { losses } = this.#chat;
    if (losses === this.#losses) return;
    this.#losses = losses;
    this.#lostAt = Math.max(this.#chat.now, this.#latest);
    this.#owed.clear();
    this.#answered.clear();
    this.#sending = null;
    this.grant = null;
  }
}
