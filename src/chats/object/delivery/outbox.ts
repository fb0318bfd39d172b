import type { StatusNews } from "../../../model/chat-answers.ts";
import type { Message } from "../../../model/message.ts";
import type { Outcome } from "../../../model/network.ts";
import { causeOf } from "../../../platform/log.ts";
import { callNetwork, knownOf, type OutboxHost, save, withUpload } from "./attempt.ts";
import { withoutPastWords } from "./attempt-history.ts";
import { mayCancel } from "./cancelable.ts";
import { brokenChannelReport } from "./channel-reports.ts";
import {
  afterAttempt,
  afterHold,
  epochAfter,
  isSameAttempt,
  isStalePermit,
  judged,
  MESSAGE_EXPIRED,
  mayExpire,
  mayGoOn,
  nextStep,
  rowOfStatus,
  STUCK,
  startAttempt,
} from "./head.ts";
import { MessageFiles } from "./message-files.ts";
import { applyNews, type Upload } from "./parts.ts";
import { acquirePermit, type Granted, report, returnPermit } from "./permit.ts";
import { newsWithoutWords } from "./redaction.ts";
import { type DeliveryError, isOverdue, notBegun, wakeAt } from "./retry.ts";
import type { QueuedMessage } from "./row.ts";

/** The message that is being sent. */
interface Sending {
  seq: number;
  /** The reason in a status that reported the channel as broken during the attempt; null if none did. */
  broken: string | null;
}

/** An attempt: its first part, the number of parts, the channel's epoch, when it called the network, and its upload. */
interface AttemptMade {
  first: number;
  of: number;
  epoch: number;
  calledAt: number;
  upload: Upload | undefined;
}

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
  #sending: Sending | null = null;
  #wakes = 0;

  /** The channel works again. */
  wake(): void {
    this.#wakes++;
  }

  /** Whether a run is in progress. It also delivers messages that are stored in the meantime. */
  get isRunning(): boolean {
    return this.#run !== null;
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
  expire(host: OutboxHost): void {
    const { clock, log } = host;
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
      if (marked) this.#end(host, marked, "FAILED", MESSAGE_EXPIRED);
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
  cancel(host: OutboxHost, seq: number): boolean {
    const row = host.log.delivered(seq);
    if (!row || !mayCancel(row, this.#marked === seq)) return false;
    this.#end(host, row, "CANCELED", null);
    return true;
  }

  /** A queued message ends without a further attempt. */
  #end(host: OutboxHost, row: QueuedMessage, status: Message["status"], error: DeliveryError | null): void {
    const isMarked = this.#marked === row.seq;
    if (isMarked) this.#marked = null;
    host.change(row.message, status, error, isMarked ? { ...row, delivery: notBegun(row.delivery) } : undefined);
  }

  /** Delivers until the queue is empty or must wait. Concurrent callers share one run. */
  run(host: OutboxHost): Promise<void> {
    this.#run ??= this.#steps(host).finally(() => {
      this.#run = null;
    });
    return this.#run;
  }

  async #steps(host: OutboxHost): Promise<void> {
    const { clock } = host;
    const startedAt = clock.now();
    for (let steps = 0; mayGoOn(steps, startedAt, clock.now()) && (await this.#tryStep(host)); steps++);
  }

  /**
   * Like `#step`. A message that causes a fault each time ends with its deadline: it must not hold up the chat forever.
   * @throws as `#step`
   */
  async #tryStep(host: OutboxHost): Promise<boolean> {
    try {
      return await this.#step(host);
    } catch (error) {
      const { clock, identity, log, logger } = host;
      const head = host.exists() ? log.queue.head() : null;
      if (!head || !isOverdue(head.delivery, clock.now())) throw error;
      logger.error({
        event: "message_failed",
        chatId: identity.chatId,
        messageId: head.message.id,
        error: causeOf(error),
      });
      this.#end(host, head, "FAILED", STUCK);
      return true;
    }
  }

  /** Takes the head of the queue one step further. @returns whether another step may follow at once */
  async #step(host: OutboxHost): Promise<boolean> {
    const { clock, log } = host;
    const head = log.queue.head();
    if (!head) return false;
    const next = nextStep(head, this.#marked === head.seq, clock.now());
    if (next.turn === "wait") return false;
    if (next.turn === "expire") {
      this.#end(host, head, "FAILED", next.error);
      return true;
    }
    if (next.turn === "close") {
      this.#settle(host, head, next.outcome);
      return true;
    }
    const asked = { seq: head.seq, wakes: this.#wakes };
    const permit = await acquirePermit(host, next.reservedAt, head.delivery.brokenEpoch ?? null);
    const current = host.exists() ? log.queue.head() : null;
    if (!current || this.#isStale(host, permit, asked, current)) {
      // The channel waits for the result of a trial and of a probe.
      if (permit.outcome === "granted") await returnPermit(host, permit);
      return host.exists();
    }
    if (permit.outcome === "granted") return this.#attempt(host, current, permit);
    this.#marked = null;
    const { delivery, lastError } = afterHold(current, permit, clock.now(), clock.random());
    log.writeDelivery(head.seq, { delivery, parts: current.parts, lastError });
    // Its deadline may have passed while it waited behind other messages.
    return isOverdue(delivery, clock.now());
  }

  #isStale(
    { clock }: OutboxHost,
    permit: Awaited<ReturnType<typeof acquirePermit>>,
    asked: { seq: number; wakes: number },
    current: QueuedMessage,
  ): boolean {
    const isBroken = permit.outcome === "later" && permit.broken !== null;
    const isExpired = mayExpire(current, this.#marked === current.seq, clock.now());
    return isStalePermit(isBroken, asked, { seq: current.seq, wakes: this.#wakes, isExpired });
  }

  async #attempt(host: OutboxHost, head: QueuedMessage, permit: Granted): Promise<boolean> {
    const { clock, identity, log } = host;
    // Before anything is stored: if the network's address is misconfigured, no attempt was made.
    const send = host.network.connect();
    const delivery = startAttempt(head, permit.brokenSince, this.#marked === head.seq, clock.now());
    this.#marked = null;
    if (delivery !== head.delivery) {
      log.writeDelivery(head.seq, { ...head, delivery });
      // If this instance is lost, the alarm finds the open attempt.
      await host.standBy(wakeAt(delivery, clock.now()));
    }
    const { parts } = knownOf(host, head);
    const sending: Sending = { seq: head.seq, broken: null };
    this.#sending = sending;
    const files = new MessageFiles(log, head, host.files, clock);
    const calledAt = clock.now();
    const answer = await callNetwork(host, { ...head, parts }, delivery, permit, send, files).finally(() => {
      this.#sending = null;
    });
    const brokenEpoch = head.delivery.brokenEpoch ?? null;
    const outcome = judged(answer, permit, brokenEpoch);
    host.logger.log({
      event: "attempt",
      chatId: identity.chatId,
      messageId: head.message.id,
      channelId: identity.channelId,
      attempt: delivery.attempts,
      outcome: outcome.outcome,
      code: "code" in outcome ? outcome.code : null,
      ms: clock.now() - calledAt,
    });
    if (!host.exists()) return false;
    host.attempted(outcome);
    if (outcome.outcome === "sent" && outcome.addresses.length > 0) host.learn(outcome.addresses, false);
    if (outcome.outcome === "moved") host.learn([outcome.address], true);
    const current = log.delivered(head.seq);
    if (isSameAttempt(current, delivery)) {
      const epoch = epochAfter(permit, outcome);
      const attempt = { first: parts.ids.length, of: parts.of, epoch, calledAt, upload: files.upload };
      sending.broken = this.#settle(host, current, outcome, attempt) ?? sending.broken;
    }
    const { broken: reason } = sending;
    const reported: Outcome = reason === null ? outcome : { outcome: "channel_broken", reason, parts: [] };
    await report(host, reported, { ...permit, brokenEpoch });
    return host.exists();
  }

  /**
   * Stores what an outcome means for the message.
   * @param attempt absent for a lost attempt
   * @returns the reason, if a status reported the channel as broken
   */
  #settle(host: OutboxHost, current: QueuedMessage, outcome: Outcome, attempt?: AttemptMade): string | null {
    const { clock, log, network } = host;
    const { message, seq } = current;
    // A message that was redacted is no longer queued.
    const isRedacted = message.status !== "QUEUED" && log.isRedacted(seq);
    const before = withUpload(knownOf(host, current, attempt?.of), isRedacted ? undefined : attempt?.upload);
    const now = clock.now();
    const settled = afterAttempt(current, before, outcome, network, now, clock.random(), attempt);
    const after = isRedacted ? { ...settled, delivery: withoutPastWords(settled.delivery) } : settled;
    if (after.status !== message.status || after.error !== message.error) {
      host.change(message, after.status, after.error, after);
    } else log.writeDelivery(seq, after);
    return after.broken;
  }

  /**
   * Stores the number of a message's parts, because the redacted message no longer shows it. An attempt that was stored
   * with the message and has not begun is withdrawn.
   */
  beforeRedaction(host: OutboxHost, seq: number): void {
    const row = host.log.delivered(seq);
    if (row?.message.direction !== "OUTBOUND") return;
    const isMarked = this.#marked === seq;
    const of = row.parts.of ?? knownOf(host, row).parts.of;
    if (!isMarked && (row.parts.of !== undefined || of === 1)) return;
    if (isMarked) this.#marked = null;
    const delivery = isMarked ? notBegun(row.delivery) : row.delivery;
    host.log.writeDelivery(seq, { ...row, delivery, parts: { ...row.parts, of } });
  }

  /**
   * Stores a status from the network. It may come before the answer to the send, instead of a lost answer, twice, or late.
   * A status without our id may belong to the message that is being sent.
   * @returns null if no message matches; else a promise that resolves after a broken channel, if any, was reported
   */
  applyStatus(host: OutboxHost, news: StatusNews): Promise<void> | null {
    const { clock, log } = host;
    const current = rowOfStatus(log, news, this.#sending?.seq ?? null);
    if (!current) return null;
    const before = knownOf(host, current);
    const { messageId, networkId, status, error } = news;
    const part = { networkId, status, error, isOurs: messageId !== null };
    const after = applyNews(before, error && log.isRedacted(current.seq) ? newsWithoutWords(part) : part);
    if (!after) return null;
    save(host, current, before, after);
    if (after.broken === undefined) return Promise.resolve();
    if (this.#sending?.seq === current.seq) {
      // The attempt reports it at its end. Until then its answer may still show that the channel works.
      this.#sending.broken = after.broken;
      return Promise.resolve();
    }
    const attempt = brokenChannelReport(current, clock.now());
    if (!attempt) return Promise.resolve();
    return report(host, { outcome: "channel_broken", reason: after.broken, parts: [] }, attempt);
  }
}
