import { networkOf } from "../../../channels/registry.ts";
import type { StatusNews } from "../../../model/chat-answers.ts";
import type { Message } from "../../../model/message.ts";
import type { Outcome } from "../../../model/network.ts";
import { causeOf } from "../../../platform/log.ts";
import type { DeliveryError, QueuedMessage } from "../log/delivery-column.ts";
import { DeliveryAttempt } from "./attempt.ts";
import { withoutPastWords } from "./attempt-history.ts";
import { mayCancel } from "./cancelable.ts";
import { brokenChannelReport } from "./channel-reports.ts";
import {
  afterAttempt,
  afterHold,
  isOutcomeOpen,
  isStalePermit,
  MESSAGE_EXPIRED,
  mayExpire,
  mayGoOn,
  nextStep,
  rowOfStatus,
  STUCK,
  startAttempt,
} from "./head.ts";
import type { NetworkChat } from "./network-chat.ts";
import { applyNews } from "./parts.ts";
import { acquirePermit, type Granted, report, returnPermit } from "./permit.ts";
import { newsWithoutWords } from "./redaction.ts";
import { isOverdue, notBegun, wakeAt } from "./retry.ts";

/**
 * Delivers a chat's messages one at a time, in sequence order. A message that must wait holds back later messages; a
 * failed message doesn't. The decisions are in `head.ts`; this class carries them out. At each `await` the object
 * may be lost, and a status, a redaction or the chat's deletion may come in between. So an attempt is stored before the
 * network is called, and the row is read again after the call.
 */
export class Outbox {
  #run: Promise<void> | null = null;
  /** The message that was stored with its first attempt, which this instance has not made yet. */
  #marked: number | null = null;
  #sending: DeliveryAttempt | null = null;
  #wakes = 0;

  /** The channel works again. */
  wake(): void {
    this.#wakes++;
  }

  /** Whether a run is in progress. It also delivers messages that are stored in the meantime. */
  get isRunning(): boolean {
    return this.#run !== null;
  }

  /** Whether it is not known under which ids a message of the chat is at its network. */
  isOutcomeOpen({ parts: { log } }: NetworkChat): boolean {
    const head = this.#sending === null ? log.queue.head() : null;
    return this.#sending !== null || (head !== null && isOutcomeOpen(head));
  }

  /** A message was stored with its first attempt. Any other open attempt was lost with its instance. */
  adopt(seq: number): void {
    this.#marked = seq;
  }

  /** Whether this instance makes the open attempt of a message, or will make it. */
  isUnderWay(seq: number): boolean {
    return this.#marked === seq || this.#sending?.seq === seq;
  }

  /** Fails the queued messages that have expired, also those behind the head. */
  expire(chat: NetworkChat): void {
    const { clock, log } = chat.parts;
    const now = clock.now();
    const { expiry } = log.queue;
    if ((expiry.earliest() ?? Number.POSITIVE_INFINITY) > now) return;
    for (let after = 0; ; ) {
      const rows = expiry.expiredBy(now, after);
      const last = rows.at(-1);
      if (!last) break;
      const expired = rows.filter((row) => mayExpire(row, this.#marked === row.seq, now));
      const [marked, others] = [
        expired.find(({ seq }) => seq === this.#marked),
        expired.filter(({ seq }) => seq !== this.#marked),
      ];
      if (marked) this.#end(chat, marked, "FAILED", MESSAGE_EXPIRED);
      log.failQueued(
        others.map(({ message }) => message),
        MESSAGE_EXPIRED,
        now,
      );
      after = last.seq;
    }
    expiry.passed(now);
  }

  /** Cancels a message. @returns false if it is too late */
  cancel(chat: NetworkChat, seq: number): boolean {
    const row = chat.parts.log.delivered(seq);
    if (!row || !mayCancel(row, this.#marked === seq)) return false;
    this.#end(chat, row, "CANCELED", null);
    return true;
  }

  /** A queued message ends without a further attempt. */
  #end(chat: NetworkChat, row: QueuedMessage, status: Message["status"], error: DeliveryError | null): void {
    const isMarked = this.#marked === row.seq;
    if (isMarked) this.#marked = null;
    chat.change(row.message, status, error, isMarked ? { ...row, delivery: notBegun(row.delivery) } : undefined);
    chat.parts.echoes.onOutcome();
  }

  /** Delivers until the queue is empty or must wait. Concurrent callers share one run. */
  run(chat: NetworkChat): Promise<void> {
    this.#run ??= this.#steps(chat).finally(() => {
      this.#run = null;
    });
    return this.#run;
  }

  async #steps(chat: NetworkChat): Promise<void> {
    const { clock } = chat.parts;
    const startedAt = clock.now();
    for (let steps = 0; mayGoOn(steps, startedAt, clock.now()) && (await this.#tryStep(chat)); steps++);
  }

  /**
   * Like `#step`. A message that causes a fault each time ends with its deadline: it must not hold up the chat forever.
   * @throws as `#step`
   */
  async #tryStep(chat: NetworkChat): Promise<boolean> {
    try {
      return await this.#step(chat);
    } catch (error) {
      const { clock, log, logger } = chat.parts;
      const head = chat.exists() ? log.queue.head() : null;
      if (!head || !isOverdue(head.delivery, clock.now())) throw error;
      logger.error({
        event: "message_failed",
        chatId: chat.identity.chatId,
        messageId: head.message.id,
        error: causeOf(error),
      });
      this.#end(chat, head, "FAILED", STUCK);
      return true;
    }
  }

  /** Takes the head of the queue one step further. @returns whether another step may follow at once */
  async #step(chat: NetworkChat): Promise<boolean> {
    const { clock, log } = chat.parts;
    const head = log.queue.head();
    if (!head) return false;
    const next = nextStep(head, this.#marked === head.seq, clock.now());
    if (next.turn === "wait") return false;
    if (next.turn === "expire") {
      this.#end(chat, head, "FAILED", next.error);
      return true;
    }
    if (next.turn === "close") {
      this.#settle(chat, head, next.outcome);
      return true;
    }
    const asked = { seq: head.seq, wakes: this.#wakes };
    const permit = await acquirePermit(chat, next.reservedAt, head.delivery.brokenEpoch ?? null);
    const current = chat.exists() ? log.queue.head() : null;
    if (!current || this.#isStale(chat, permit, asked, current)) {
      // The channel waits for the result of a trial and of a probe.
      if (permit.outcome === "granted") await returnPermit(chat, permit);
      return chat.exists();
    }
    if (permit.outcome === "granted") return this.#attempt(chat, current, permit);
    this.#marked = null;
    const { delivery, lastError } = afterHold(current, permit, clock.now(), clock.random());
    log.writeDelivery(head.seq, { delivery, parts: current.parts, lastError });
    // Its deadline may have passed while it waited behind other messages.
    return isOverdue(delivery, clock.now());
  }

  #isStale(
    { parts: { clock } }: NetworkChat,
    permit: Awaited<ReturnType<typeof acquirePermit>>,
    asked: { seq: number; wakes: number },
    current: QueuedMessage,
  ): boolean {
    const isBroken = permit.outcome === "later" && permit.broken !== null;
    const isExpired = mayExpire(current, this.#marked === current.seq, clock.now());
    return isStalePermit(isBroken, asked, { seq: current.seq, wakes: this.#wakes, isExpired });
  }

  async #attempt(chat: NetworkChat, head: QueuedMessage, permit: Granted): Promise<boolean> {
    const { identity, parts } = chat;
    const { alarm, clock, contact, log } = parts;
    // Before anything is stored: if the network's address is misconfigured, no attempt was made.
    const network = networkOf(parts.env, chat.kind);
    const delivery = startAttempt(head, permit.brokenSince, this.#marked === head.seq, clock.now());
    this.#marked = null;
    if (delivery !== head.delivery) {
      log.writeDelivery(head.seq, { ...head, delivery });
      // If this instance is lost, the alarm finds the open attempt.
      await alarm.by(wakeAt(delivery, clock.now()));
    }
    const attempt = new DeliveryAttempt(chat, head, delivery, permit);
    this.#sending = attempt;
    const outcome = await attempt.call(network).finally(() => {
      this.#sending = null;
    });
    parts.logger.log({
      event: "attempt",
      chatId: identity.chatId,
      messageId: head.message.id,
      channelId: identity.channelId,
      attempt: delivery.attempts,
      outcome: outcome.outcome,
      code: "code" in outcome ? outcome.code : null,
      ms: clock.now() - attempt.calledAt,
    });
    if (!chat.exists()) return false;
    parts.report.counted(outcome.outcome);
    if (outcome.outcome === "sent" && outcome.addresses.length > 0) contact.learn(outcome.addresses);
    if (outcome.outcome === "moved") contact.follow(outcome);
    const current = attempt.current();
    if (current) attempt.broken = this.#settle(chat, current, outcome, attempt) ?? attempt.broken;
    const { broken: reason } = attempt;
    const reported: Outcome = reason === null ? outcome : { outcome: "channel_broken", reason, parts: [] };
    await report(chat, reported, { ...permit, brokenEpoch: head.delivery.brokenEpoch ?? null });
    return chat.exists();
  }

  /**
   * Stores what an outcome means for the message.
   * @param attempt absent for a lost attempt
   * @returns the reason, if a status reported the channel as broken
   */
  #settle(chat: NetworkChat, current: QueuedMessage, outcome: Outcome, attempt?: DeliveryAttempt): string | null {
    const { clock, log } = chat.parts;
    const { message, seq } = current;
    // A message that was redacted is no longer queued.
    const isRedacted = message.status !== "QUEUED" && log.isRedacted(seq);
    const before = attempt && !isRedacted ? attempt.known(current) : chat.known(current, attempt?.of);
    const now = clock.now();
    const settled = afterAttempt(current, before, outcome, chat.adapter, now, clock.random(), attempt);
    const after = isRedacted ? { ...settled, delivery: withoutPastWords(settled.delivery) } : settled;
    if (after.status !== message.status || after.error !== message.error) {
      chat.change(message, after.status, after.error, after);
    } else log.writeDelivery(seq, after);
    chat.parts.echoes.onOutcome();
    return after.broken;
  }

  /**
   * Stores the number of a message's parts, because the redacted message no longer shows it. An attempt that was stored
   * with the message and has not begun is withdrawn.
   */
  beforeRedaction(chat: NetworkChat, seq: number): void {
    const row = chat.parts.log.delivered(seq);
    if (row?.message.direction !== "OUTBOUND") return;
    const isMarked = this.#marked === seq;
    const of = row.parts.of ?? chat.known(row).parts.of;
    if (!isMarked && (row.parts.of !== undefined || of === 1)) return;
    if (isMarked) this.#marked = null;
    const delivery = isMarked ? notBegun(row.delivery) : row.delivery;
    chat.parts.log.writeDelivery(seq, { ...row, delivery, parts: { ...row.parts, of } });
  }

  /**
   * Stores a status from the network. It may come before the answer to the send, instead of a lost answer, twice, or late.
   * A status without our id may belong to the message that is being sent.
   * @returns null if no message matches; else a promise that resolves after a broken channel, if any, was reported
   */
  applyStatus(chat: NetworkChat, news: StatusNews): Promise<void> | null {
    const { clock, log } = chat.parts;
    const current = rowOfStatus(log, news, this.#sending?.seq ?? null);
    if (!current) return null;
    const before = chat.known(current);
    const { messageId, networkId, status, error, price, failedAt } = news;
    const part = { networkId, status, error, isOurs: messageId !== null };
    const after = applyNews(before, error && log.isRedacted(current.seq) ? newsWithoutWords(part) : part);
    if (!after) return null;
    // A status without our id may be of another message, unless its own id is known.
    const isSure = part.isOurs || after.parts.ids.includes(networkId);
    chat.save(current, before, after, { failedAt, price: isSure ? price : undefined });
    chat.parts.echoes.onOutcome();
    if (after.broken === undefined) return Promise.resolve();
    if (this.#sending?.seq === current.seq) {
      // The attempt reports it at its end. Until then its answer may still show that the channel works.
      this.#sending.broken = after.broken;
      return Promise.resolve();
    }
    const attempt = brokenChannelReport(current, clock.now());
    if (!attempt) return Promise.resolve();
    return report(chat, { outcome: "channel_broken", reason: after.broken, parts: [] }, attempt);
  }
}
