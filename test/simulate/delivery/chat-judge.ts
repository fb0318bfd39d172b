import type { Outcome } from "../../../src/channels/adapter.ts";
import { expiryOf } from "../../../src/chats/message.ts";
import { wakeAt } from "../../../src/chats/object/delivery/retry.ts";
import type { StateAnswer, StatusNews } from "../../../src/chats/rpc.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { Book, expiresAt, isQueued, type Row } from "./book.ts";
import type { Grant } from "./channel-judge.ts";
import { UNDELIVERABLE } from "./network.ts";
import type { DeliveryWorld } from "./rules.ts";

const DAY = 86_400_000;
/** How far a chat's clock is set back. */
export const SET_BACK_MS = 300_000;
/** After a loss, the alarm may be this much later than the queue is due. */
const LEASE_MS = 60_000;
/** The alarm rings so often for nothing at most: when its time, or that of the report, has moved since it was set. */
const MAX_IDLE = 30;
const UNKNOWN_WAIT_MS = 90_000;
const TIMES = { SENT: "sentAt", DELIVERED: "deliveredAt", READ: "readAt", FAILED: "failedAt" } as const;
const RANK: Record<string, number> = { QUEUED: 0, SENT: 1, DELIVERED: 2, READ: 3 };

type OwedReport = "reportBroken" | "slowDown" | "reportProbe";

/** One call on the wire. */
export interface Call {
  at: number;
  seq: number;
  part: number;
  attempts: number;
  /** The first call of its attempt. */
  isFirst: boolean;
  grant: Grant;
  accepted: boolean;
  /** What an instance of the chat was answered, and what of that came to its disk; null: nothing. */
  given: Outcome | null;
  answer: Outcome | null;
  /** The chat has it on disk that this is out. */
  isKnown: boolean;
}

/** What must hold of one chat, kept apart from what the chat itself knows. */
export class ChatJudge {
  readonly book = new Book();
  /** When each message was done with. */
  readonly doneAt = new Map<number, number>();
  /** The permit of the attempt that comes next or is under way. */
  grant: Grant | null = null;
  readonly #world: DeliveryWorld;
  readonly #chat: SimulatedObject;
  readonly #kind: string;
  readonly #calls = new Map<number, Call[]>();
  /** Of which messages the network told that they came through, and as what it told it last. */
  readonly #proven = new Map<number, Set<string>>();
  /** Of which messages the network told that they failed. */
  readonly #failed = new Set<number>();
  /** What the chat has yet to report to its channel. */
  readonly #owed = new Set<OwedReport>();
  /** The calls whose answers are not on disk yet. */
  readonly #answered = new Set<Call>();
  /** The attempt that is under way. */
  #sending: { seq: number; signal: AbortSignal; answer: Outcome | null; isBroken: boolean } | null = null;
  /** The status that arrived in this event. */
  #news: { event: number; status: StatusNews } | null = null;
  #lastSeq = 0;
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
  }

  /** A client was told that the message is stored. */
  acknowledged(seq: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, seq);
  }

  /** A status arrives. @returns what to look at when it is answered */
  arrived(news: StatusNews): (() => void) | undefined {
    this.#news = { event: this.#world.events, status: news };
    const before = this.book.rows.find(({ message }) => message.id === news.messageId);
    if (!before || news.status !== "FAILED" || before.delivery.attempts < 2) return undefined;
    const { parts } = before.delivery;
    const isOfCopy = parts.length === 1 && !parts.includes(news.networkId) && this.book.callsFor(before.seq) === 1;
    if (!isOfCopy) return undefined;
    return () => {
      const status = this.book.byId(before.message.id)?.message.status;
      const text = () => `message ${before.seq} is ${status} by a copy, and was ${before.message.status}`;
      this.#world.check("copy", status === before.message.status, text);
    };
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
    const before = this.#callsOf(seq);
    const same = before.filter((one) => one.part === part);
    const name = () => `${this.#chat.name} message ${seq} part ${part} attempt ${call.attempts}`;
    const isInOrder = seq >= this.#lastSeq && rows.slice(0, seq - 1).every((other) => !isQueued(other));
    world.check("order", isInOrder, () => `${name()} was called out of order`);
    this.#lastSeq = seq;
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
    this.#calls.set(seq, [...before, call]);
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
    const copies = this.#callsOf(seq).filter((one) => one.part === part && one.accepted);
    const lost = copies.filter(({ isKnown }) => !isKnown).length;
    const text = () => `message ${seq} part ${part}: ${copies.length} copies`;
    this.#world.check("copies", copies.length - lost <= 1, text);
  }

  /** The chat has the answer of a call. */
  answered(call: Call, answer: Outcome): void {
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
      const last = this.#callsOf(seq).findLast((call) => call.answer?.outcome === "channel_broken");
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

  /** The network will tell that a message failed. */
  failedLater(seq: number): void {
    this.#failed.add(seq);
  }

  /** The network told of a message, and the chat has it on disk. */
  told(seq: number, status: string): void {
    if (status !== "DELIVERED" && status !== "READ") return;
    this.#proven.set(seq, (this.#proven.get(seq) ?? new Set()).add(status));
  }

  /** The chat has committed. */
  committed(): void {
    this.#notice();
    // What was due at once stays so when the clock is set back.
    this.#latest = Math.max(this.#latest, this.#chat.now);
    const { book } = this;
    const news = this.#news?.event === this.#world.events ? this.#news.status : null;
    const changed = book.read(this.#chat.storage);
    if (changed.length > 0) this.worked();
    for (const [before, after] of changed) {
      this.#changed(before, after, news?.status ?? null);
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
    const { alarm } = this.#chat.storage;
    this.#world.check("alarm", !book.head || alarm !== null, () => `${this.#chat.name} waits with no alarm`);
  }

  /** @param news what the network told in this event */
  #changed(before: Row, after: Row, news: string | null): void {
    const world = this.#world;
    const { seq, message } = after;
    const { status, error } = message;
    const was = before.message.status;
    if (was === status) return;
    world.count(`${was} to ${status}`);
    const text = () => `message ${seq} went from ${was} to ${status} (${error?.code ?? "no error"}), told ${news}`;
    const isProven = news === "DELIVERED" || news === "READ" || this.#proven.has(seq);
    const isLate = before.message.error?.code === "redacted";
    this.#timed(before, after);
    if (status === "CANCELED") {
      this.#canceled(before);
      return;
    }
    if (was === "FAILED") world.check("forward", isProven || isLate, text);
    else if (status === "FAILED") world.check("forward", was === "QUEUED" || was === "SENT", text);
    else world.check("forward", (RANK[status] ?? 0) > (RANK[was] ?? 0), text);
    const calls = this.#callsOf(seq);
    if (status !== "FAILED") {
      const isOut = (_: unknown, part: number) => calls.some((call) => call.part === part && call.accepted);
      world.check("cause", Array.from({ length: this.book.callsFor(seq) }, isOut).every(Boolean), text);
    } else if (error?.code === "delivery_timeout") {
      world.count("given up after its time");
      const waited = this.#chat.now - Date.parse(before.message.createdAt);
      // It was created no earlier than the one before it, whatever the clock showed.
      world.check("cause", waited >= DAY - SET_BACK_MS, text);
    } else if (error?.code === "expired") {
      this.#expired(after);
    } else if (error?.code !== "redacted") {
      const isRefused = calls.some(({ given }) => codeOf(given) === error?.code);
      const isTold = this.#failed.has(seq) && error?.code === UNDELIVERABLE.code;
      world.check("cause", isRefused || isTold, text);
    }
  }

  #expired(row: Row): void {
    const { seq, delivery } = row;
    const world = this.#world;
    const late = this.#chat.now - expiresAt(row);
    const calls = this.#callsOf(seq);
    world.check("cause", late >= 0, () => `message ${seq} expired ${-late} ms too early`);
    // The network has not answered yet, as far as the chat knows: the attempt is open.
    const isOpen = calls.some(({ attempts, answer, given }) => attempts === delivery.attempts && !answer && !given);
    world.check("expiry", !isOpen || delivery.startedAt === null, () => `message ${seq} expired during an attempt`);
    const isBehind = this.book.rows.slice(0, seq - 1).some(isQueued);
    if (isBehind) world.count("expired behind another message");
    if (isBehind && this.#calls.get(this.#lastSeq)?.at(-1)?.given === null)
      world.count("expired while the head was on the wire");
    world.count(calls.length > 0 ? "expired after an attempt" : "expired before its first attempt");
    if (calls.length > 0) return;
    const lateAlarm = world.counts.has("alarm early or late") ? LEASE_MS : 0;
    const isInTime = late <= 2_000 + lateAlarm || this.#chat.now <= this.#lostAt + LEASE_MS + lateAlarm + 2_000;
    world.check("expiry", isInTime, () => `message ${seq} failed ${late} ms after it expired`);
  }

  #canceled({ seq, message }: Row): void {
    const isCertain = this.#callsOf(seq).every(({ accepted, answer }) => {
      return !accepted && answer !== null && answer.outcome !== "unknown";
    });
    const text = () => `message ${seq} was ${message.status}, and may have been sent, when it was canceled`;
    this.#world.check("canceled", message.status === "QUEUED" && isCertain, text);
  }

  /** A client is told of the queue. */
  described(answer: StateAnswer): void {
    if (answer.outcome !== "ok") return;
    const { head, rows } = this.book;
    const next = head && wakeAt(head.delivery, this.#chat.now, expiryOf(head.message));
    const right = {
      depth: rows.filter(isQueued).length,
      oldest: head?.message.createdAt ?? null,
      nextAttemptAt: next === undefined ? null : new Date(next).toISOString(),
      lastError: head?.delivery.lastError ?? null,
    };
    const [told, text] = [JSON.stringify(answer.queue), JSON.stringify(right)];
    this.#world.check("queue", told === text, () => `the queue is told as ${told}, and is ${text}`);
  }

  /** A status has its own time, and the times before it stay. */
  #timed({ message: before }: Row, { seq, message }: Row): void {
    const now = Math.max(this.#chat.now, Date.parse(before.updatedAt));
    const isNow = Date.parse(message.updatedAt) === now;
    const isRight = Object.entries(TIMES).every(([status, field]) => {
      return message[field] === (status === message.status ? message.updatedAt : before[field]);
    });
    this.#world.check("times", isNow && isRight, () => `message ${seq}: ${JSON.stringify([before, message])}`);
  }

  /** A client wanted to cancel a message. @param row as it was then */
  cancelAnswered({ seq, message, delivery }: Row, isCanceled: boolean): void {
    if (isCanceled) return;
    this.#world.count("not canceled");
    const text = () => `message ${seq} was not canceled, and no attempt began`;
    this.#world.check("canceled", message.status !== "QUEUED" || delivery.attempts > 0, text);
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
    // Everything that the network had to tell is told.
    for (const { seq, message } of rows) {
      const calls = this.#callsOf(seq).filter(({ accepted }) => accepted);
      const told = this.#proven.get(seq);
      if (!told || this.book.callsFor(seq) > 1 || calls.length !== 1 || !calls[0]?.isKnown) continue;
      const isFar = message.status === "READ" || (message.status === "DELIVERED" && !told.has("READ"));
      this.#world.check("told", isFar, () => `message ${seq} is ${message.status}, told ${[...told].join()}`);
    }
  }

  #callsOf(seq: number): Call[] {
    return this.#calls.get(seq) ?? [];
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

/** The error with which a message fails that was answered like this. */
function codeOf(outcome: Outcome | null): string | undefined {
  if (outcome?.outcome === "channel_broken") return "message_refused";
  return outcome?.outcome === "failed" || outcome?.outcome === "retry" ? outcome.code : undefined;
}
