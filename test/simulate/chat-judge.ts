import type { Outcome } from "../../src/channels/adapter.ts";
import { expiryOf } from "../../src/chats/message.ts";
import { wakeAt } from "../../src/chats/object/delivery/retry.ts";
import type { QueuedMessage } from "../../src/chats/object/delivery/row.ts";
import type { Grant } from "./channel-judge.ts";
import type { Call } from "./network.ts";
import { isQueued } from "./storage.ts";
import type { World } from "./world.ts";

const DAY = 86_400_000;
const UNKNOWN_WAIT_MS = 90_000;
const RANK: Record<string, number> = { QUEUED: 0, SENT: 1, DELIVERED: 2, READ: 3 };

export type OwedReport = "broken" | "slow_down" | "probe";

/** What its judge sees of a chat. */
interface JudgedChat {
  id: string;
  kind: string;
  rows: readonly QueuedMessage[];
  alarm: number | null;
  /** Until then a loss or a late alarm may delay what is due. */
  delayedUntil: number;
  callsFor(seq: number): number;
}

/** What must hold of one chat, kept apart from what the chat itself knows. */
export class ChatJudge {
  readonly #world: World;
  readonly #chat: JudgedChat;
  readonly #calls = new Map<number, Call[]>();
  /** Of which messages the network told that they came through, and as what it told it last. */
  readonly #proven = new Map<number, Set<string>>();
  /** Of which messages the network told that they failed. */
  readonly #failed = new Set<number>();
  /** When each message was done with. */
  readonly doneAt = new Map<number, number>();
  /** What the chat has yet to report to its channel. */
  readonly #owed = new Set<OwedReport>();
  #lastSeq = 0;
  /** The rows at the last commit. */
  #rows: readonly QueuedMessage[] = [];
  #acknowledged = 0;

  constructor(world: World, chat: JudgedChat) {
    this.#world = world;
    this.#chat = chat;
  }

  callsOf(seq: number): Call[] {
    return this.#calls.get(seq) ?? [];
  }

  /** A client was told that the message is stored. */
  acknowledged(seq: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, seq);
  }

  /** The network is called. */
  called(call: Call): void {
    const { seq, part } = call;
    const world = this.#world;
    const chat = this.#chat;
    const before = this.callsOf(seq);
    const same = before.filter((one) => one.part === part);
    const row = chat.rows[seq - 1] as QueuedMessage;
    const name = () => `${chat.id} message ${seq} part ${part} attempt ${call.attempts}`;
    const isInOrder = seq >= this.#lastSeq && chat.rows.slice(0, seq - 1).every((other) => !isQueued(other));
    world.check("order", isInOrder, () => `${name()} was called out of order`);
    this.#lastSeq = seq;
    world.check("canceled", row.message.status !== "CANCELED", () => `${name()} is on the wire and was canceled`);
    world.check("once", !same.some(({ isKnown }) => isKnown), () => `${name()} was out already`);
    if (call.isFirst) {
      world.check("marked", row.delivery.startedAt !== null, () => `${name()} is not on disk`);
      world.check("final", row.message.status === "QUEUED", () => `${name()} is ${row.message.status}`);
      const late = world.now - (expiryOf(row.message) ?? Number.POSITIVE_INFINITY);
      world.check("expiry", late < 0, () => `${name()} began ${late} ms after it expired`);
    }
    const last = same.at(-1);
    if (last) this.#spaced(last, call, chat.kind, name);
    if (last && last.answer === null && last.accepted) world.count("a second copy may be sent");
    this.#calls.set(seq, [...before, call]);
  }

  #spaced(last: Call, call: Call, kind: string, name: () => string): void {
    const gap = call.at - last.at;
    const { answer } = last;
    const text = () => `${name()} came ${gap} ms after attempt ${last.attempts}, answered ${JSON.stringify(answer)}`;
    if (kind === "whatsapp" && (answer === null || answer.outcome === "unknown")) {
      this.#world.check("wait", gap >= UNKNOWN_WAIT_MS, text);
    }
    if (answer?.outcome === "channel_broken" || (answer?.outcome === "moved" && last.attempts === 1)) return;
    const backoff = 0.8 * Math.min(600_000, 2_000 * 2 ** (last.attempts - 1));
    const wish = answer?.outcome === "retry" ? (answer.afterMs ?? 0) : 0;
    this.#world.check("schedule", gap >= Math.max(backoff, wish) - 1, text);
  }

  accepted(seq: number, part: number): void {
    const copies = this.callsOf(seq).filter((call) => call.part === part && call.accepted);
    const lost = copies.filter(({ isKnown }) => !isKnown).length;
    this.#world.check(
      "copies",
      copies.length - lost <= 1,
      () => `message ${seq} part ${part}: ${copies.length} copies`,
    );
  }

  /** An attempt is over: what the network answered, and what counts for the message. */
  attempted(seq: number, { probe, judgedProvenEpoch }: Grant, answer: Outcome["outcome"], outcome: Outcome): void {
    if (answer !== "channel_broken") return;
    const last = this.callsOf(seq).findLast((call) => call.answer?.outcome === "channel_broken");
    const isCause = probe === null && last !== undefined && last.grant.epoch < judgedProvenEpoch;
    if (isCause) this.#world.count("a message that was the cause");
    const text = () => `message ${seq} broke its channel: ${isCause}, taken as ${outcome.outcome}`;
    this.#world.check("blame", (outcome.outcome === "failed") === isCause, text);
  }

  /** The chat learned what it must report to its channel. */
  owes(report: OwedReport): void {
    this.#owed.add(report);
  }

  /** A report was answered. That the channel is broken says all there is to say of it. */
  reported(report: OwedReport): void {
    if (report === "broken") this.#owed.clear();
    this.#owed.delete(report);
  }

  /** The chat was lost, or a report was: those after it are not made. */
  reportsLost(): void {
    this.#owed.clear();
  }

  /** The chat asks for a permit, or rests. */
  owesNothing(): void {
    this.#world.check(
      "reports",
      this.#owed.size === 0,
      () => `${this.#chat.id} did not report ${[...this.#owed].join()}`,
    );
  }

  failedLater(seq: number): void {
    this.#failed.add(seq);
  }

  /** The network told of a message, and the chat has it on disk. */
  told(seq: number, status: string): void {
    if (status !== "DELIVERED" && status !== "READ") return;
    this.#proven.set(seq, (this.#proven.get(seq) ?? new Set()).add(status));
  }

  /** A message's row changed; `news`: by what the network told. */
  changed(before: QueuedMessage, { seq, message: { status, error } }: QueuedMessage, of: number, news: string | null) {
    const world = this.#world;
    const was = before.message.status;
    if (was === status) return;
    world.count(`${was} to ${status}`);
    const text = () => `message ${seq} went from ${was} to ${status} (${error?.code ?? "no error"}), told ${news}`;
    const isProven = news === "DELIVERED" || news === "READ" || this.#proven.has(seq);
    const isLate = before.message.error?.code === "redacted";
    if (status === "CANCELED") return this.#canceled(before);
    if (was === "FAILED") world.check("forward", isProven || isLate, text);
    else if (status === "FAILED") world.check("forward", was === "QUEUED" || was === "SENT", text);
    else world.check("forward", (RANK[status] ?? 0) > (RANK[was] ?? 0), text);
    const calls = this.callsOf(seq);
    if (status !== "FAILED") {
      const isOut = (part: number) => calls.some((call) => call.part === part && call.accepted);
      world.check("cause", Array.from({ length: of }, (_, part) => part).every(isOut), text);
    } else if (error?.code === "delivery_timeout") {
      world.count("given up after its time");
      world.check("cause", world.now - Date.parse(before.message.createdAt) >= DAY, text);
    } else if (error?.code === "expired") {
      this.#expired(before);
    } else if (error?.code !== "redacted") {
      const refusals: (string | undefined)[] = ["failed", "retry"];
      if (error?.code === "message_refused") refusals.push("channel_broken");
      const isRefused = calls.some(({ given }) => refusals.includes(given?.outcome));
      world.check("cause", isRefused || this.#failed.has(seq), text);
    }
  }

  #expired({ seq, message, delivery }: QueuedMessage): void {
    const world = this.#world;
    const chat = this.#chat;
    const late = world.now - (expiryOf(message) ?? Number.POSITIVE_INFINITY);
    const calls = this.callsOf(seq);
    world.check("cause", late >= 0, () => `message ${seq} expired ${-late} ms too early`);
    // The network has not answered yet, as far as the chat knows: the attempt is open.
    const isOpen = calls.some(({ attempts, answer, given }) => attempts === delivery.attempts && !answer && !given);
    world.check("expiry", !isOpen || delivery.startedAt === null, () => `message ${seq} expired during an attempt`);
    const isBehind = chat.rows.slice(0, seq - 1).some(isQueued);
    if (isBehind) world.count("expired behind another message");
    if (isBehind && this.#isOnWire()) world.count("expired while the head was on the wire");
    world.count(calls.length > 0 ? "expired after an attempt" : "expired before its first attempt");
    if (calls.length > 0) return;
    const isInTime = late <= 1_000 || world.now <= chat.delayedUntil + 1_000;
    world.check("expiry", isInTime, () => `message ${seq} failed ${late} ms after it expired`);
  }

  #isOnWire(): boolean {
    return this.#calls.get(this.#lastSeq)?.at(-1)?.given === null;
  }

  #canceled({ seq, message }: QueuedMessage): void {
    const isCertain = this.callsOf(seq).every(({ accepted, answer }) => {
      return !accepted && answer !== null && answer.outcome !== "unknown";
    });
    const text = () => `message ${seq} was ${message.status}, and may have been sent, when it was canceled`;
    this.#world.check("canceled", message.status === "QUEUED" && isCertain, text);
  }

  /** A client wanted to cancel a message. */
  cancelAnswered({ seq, message, delivery }: QueuedMessage, isCanceled: boolean): void {
    if (isCanceled) return;
    this.#world.count("not canceled");
    const text = () => `message ${seq} was not canceled, and no attempt began`;
    this.#world.check("canceled", message.status !== "QUEUED" || delivery.attempts > 0, text);
  }

  /** What is on disk now. */
  committed(): void {
    const chat = this.#chat;
    const head = chat.rows.find(isQueued);
    if (chat.rows !== this.#rows)
      for (const row of chat.rows) {
        if (isQueued(row)) this.doneAt.delete(row.seq);
        else if (!this.doneAt.has(row.seq)) this.doneAt.set(row.seq, this.#world.now);
      }
    this.#rows = chat.rows;
    this.#world.check("alarm", !head || chat.alarm !== null, () => `${chat.id} waits with no alarm`);
  }

  /** Nothing is under way in the chat: so the alarm is all that it has. `notBefore`: if an object was lost. */
  quiet(notBefore = 0): void {
    const chat = this.#chat;
    const { now } = this.#world;
    const head = chat.rows.find(isQueued);
    const expiries = chat.rows.filter((row) => isQueued(row) && row.delivery.startedAt === null);
    const times = expiries.map(({ message }) => expiryOf(message) ?? Number.POSITIVE_INFINITY);
    const wake = head ? Math.min(wakeAt(head.delivery, now), ...times) : 0;
    const due = Math.max(wake, notBefore);
    const text = () =>
      `${chat.id} message ${head?.seq} is due in ${due - now} ms, the alarm in ${(chat.alarm ?? 0) - now}`;
    this.#world.check("due", !head || (chat.alarm !== null && chat.alarm <= due), text);
  }

  end(): void {
    const chat = this.#chat;
    const isDense = chat.rows.every(({ seq }, at) => seq === at + 1) && chat.rows.length >= this.#acknowledged;
    this.#world.check("stored", isDense, () => `${chat.id} has ${chat.rows.length} of ${this.#acknowledged}`);
  }

  /** Everything that the network had to tell is told. */
  ended(): void {
    for (const { seq, message } of this.#chat.rows) {
      const calls = this.callsOf(seq).filter(({ accepted }) => accepted);
      const told = this.#proven.get(seq);
      if (!told || this.#chat.callsFor(seq) > 1 || calls.length !== 1 || !calls[0]?.isKnown) continue;
      const isFar = message.status === "READ" || (message.status === "DELIVERED" && !told.has("READ"));
      this.#world.check("told", isFar, () => `message ${seq} is ${message.status}, told ${[...told].join()}`);
    }
  }
}
