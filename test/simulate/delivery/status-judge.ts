import { wakeAt } from "../../../src/chats/object/delivery/retry.ts";
import type { StateAnswer, StatusNews } from "../../../src/model/chat-answers.ts";
import { expiryOf } from "../../../src/model/message.ts";
import type { PartOutcome } from "../../../src/model/network.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { type Book, expiresAt, isQueued, type Row } from "./book.ts";
import type { CallBook } from "./calls.ts";
import { UNDELIVERABLE } from "./network.ts";
import type { DeliveryWorld } from "./rules.ts";

const DAY = 86_400_000;
/** How far a chat's clock is set back. */
export const SET_BACK_MS = 300_000;
/** After a loss, the alarm may be this much later than the queue is due. */
export const LEASE_MS = 60_000;
const TIMES = { SENT: "sentAt", DELIVERED: "deliveredAt", READ: "readAt", FAILED: "failedAt" } as const;
const RANK: Record<string, number> = { QUEUED: 0, SENT: 1, DELIVERED: 2, READ: 3 };

/** What must hold of the statuses of a chat's messages: each has a cause and its time, and is told as it is. */
export class StatusJudge {
  readonly #world: DeliveryWorld;
  readonly #chat: SimulatedObject;
  readonly #book: Book;
  readonly #calls: CallBook;
  /** Of which messages the network told that they came through, and as what it told it last. */
  readonly #proven = new Map<number, Set<string>>();
  /** Of which messages the network told that they failed. */
  readonly #failed = new Set<number>();
  #news: { event: number; status: StatusNews } | null = null;

  constructor(world: DeliveryWorld, chat: SimulatedObject, book: Book, calls: CallBook) {
    this.#world = world;
    this.#chat = chat;
    this.#book = book;
    this.#calls = calls;
  }

  /** The status that arrived in this event. */
  get news(): StatusNews | null {
    return this.#news?.event === this.#world.events ? this.#news.status : null;
  }

  /** A status arrives. @returns what to look at when it is answered */
  arrived(news: StatusNews): (() => void) | undefined {
    this.#news = { event: this.#world.events, status: news };
    const before = this.#book.rows.find(({ message }) => message.id === news.messageId);
    if (!before || news.status !== "FAILED" || before.delivery.attempts < 2) return undefined;
    const { parts } = before.delivery;
    const isOfCopy = parts.length === 1 && !parts.includes(news.networkId) && this.#book.callsFor(before.seq) === 1;
    if (!isOfCopy) return undefined;
    return () => {
      const status = this.#book.byId(before.message.id)?.message.status;
      const text = () => `message ${before.seq} is ${status} by a copy, and was ${before.message.status}`;
      this.#world.check("copy", status === before.message.status, text);
    };
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

  /** The chat has stored a change of a message. @param lostAt when an instance was lost */
  changed(before: Row, after: Row, lostAt: number): void {
    const news = this.news?.status ?? null;
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
    const calls = this.#calls.of(seq);
    if (status !== "FAILED") {
      const isOut = (_: unknown, part: number) => calls.some((call) => call.part === part && call.accepted);
      world.check("cause", Array.from({ length: this.#book.callsFor(seq) }, isOut).every(Boolean), text);
    } else if (error?.code === "delivery_timeout") {
      world.count("given up after its time");
      const waited = this.#chat.now - Date.parse(before.message.createdAt);
      // It was created no earlier than the one before it, whatever the clock showed.
      world.check("cause", waited >= DAY - SET_BACK_MS, text);
    } else if (error?.code === "expired") {
      this.#expired(after, lostAt);
    } else if (error?.code !== "redacted") {
      const isRefused = calls.some(({ given }) => codeOf(given) === error?.code);
      const isTold = this.#failed.has(seq) && error?.code === UNDELIVERABLE.code;
      world.check("cause", isRefused || isTold, text);
    }
  }

  #expired(row: Row, lostAt: number): void {
    const { seq, delivery } = row;
    const world = this.#world;
    const late = this.#chat.now - expiresAt(row);
    const calls = this.#calls.of(seq);
    world.check("cause", late >= 0, () => `message ${seq} expired ${-late} ms too early`);
    // The network has not answered yet, as far as the chat knows: the attempt is open.
    const isOpen = calls.some(({ attempts, answer, given }) => attempts === delivery.attempts && !answer && !given);
    world.check("expiry", !isOpen || delivery.startedAt === null, () => `message ${seq} expired during an attempt`);
    const isBehind = this.#book.rows.slice(0, seq - 1).some(isQueued);
    if (isBehind) world.count("expired behind another message");
    if (isBehind && this.#calls.of(this.#calls.lastSeq).at(-1)?.given === null)
      world.count("expired while the head was on the wire");
    world.count(calls.length > 0 ? "expired after an attempt" : "expired before its first attempt");
    if (calls.length > 0) return;
    const lateAlarm = world.counts.has("alarm early or late") ? LEASE_MS : 0;
    const isInTime = late <= 2_000 + lateAlarm || this.#chat.now <= lostAt + LEASE_MS + lateAlarm + 2_000;
    world.check("expiry", isInTime, () => `message ${seq} failed ${late} ms after it expired`);
  }

  #canceled({ seq, message }: Row): void {
    const isCertain = this.#calls.of(seq).every(({ accepted, answer }) => {
      return !accepted && answer !== null && answer.outcome !== "unknown";
    });
    const text = () => `message ${seq} was ${message.status}, and may have been sent, when it was canceled`;
    this.#world.check("canceled", message.status === "QUEUED" && isCertain, text);
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

  /** A client is told of the queue. */
  described(answer: StateAnswer): void {
    if (answer.outcome !== "ok") return;
    const { head, rows } = this.#book;
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

  /** A client wanted to cancel a message. @param row as it was then */
  cancelAnswered({ seq, message, delivery }: Row, isCanceled: boolean): void {
    if (isCanceled) return;
    this.#world.count("not canceled");
    const text = () => `message ${seq} was not canceled, and no attempt began`;
    this.#world.check("canceled", message.status !== "QUEUED" || delivery.attempts > 0, text);
  }

  /** All is over: everything that the network had to tell is told. */
  end(): void {
    for (const { seq, message } of this.#book.rows) {
      const calls = this.#calls.of(seq).filter(({ accepted }) => accepted);
      const told = this.#proven.get(seq);
      if (!told || this.#book.callsFor(seq) > 1 || calls.length !== 1 || !calls[0]?.isKnown) continue;
      const isFar = message.status === "READ" || (message.status === "DELIVERED" && !told.has("READ"));
      this.#world.check("told", isFar, () => `message ${seq} is ${message.status}, told ${[...told].join()}`);
    }
  }
}

/** The error with which a message fails that was answered like this. */
function codeOf(outcome: PartOutcome | null): string | undefined {
  if (outcome?.outcome === "channel_broken") return "message_refused";
  return outcome?.outcome === "failed" || outcome?.outcome === "retry" ? outcome.code : undefined;
}
