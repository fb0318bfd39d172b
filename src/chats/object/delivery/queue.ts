import { causeOf, type Logger } from "../../../log.ts";
import type { Clock } from "../../../platform/clock.ts";
import { inTime } from "../../../platform/deadline.ts";
import type { StandingAlarm } from "../../../platform/object/alarm.ts";
import { ChangeSignal } from "../../../platform/object/change-signal.ts";
import { expiryOf } from "../../message.ts";
import type { ChatIdentity, Queue, ShownHistory, StatusNews } from "../../rpc.ts";
import type { NetworkPort, OutboxHost } from "./attempt.ts";
import { historyOf } from "./attempt-history.ts";
import type { DeliveryLog } from "./delivery-log.ts";
import { afterWake } from "./head.ts";
import { Outbox } from "./outbox.ts";
import type { ChannelPort } from "./permit.ts";
import { type Delivery, newDelivery, nextAttemptAt, wakeAt } from "./retry.ts";
import type { QueuedMessage } from "./row.ts";

const AGAIN_AFTER_MS = 30_000;
/** How long an alarm waits for the work that it started. */
const RING_MS = 5_000;

/** A chat, as delivery uses it. */
export interface DeliveringChat extends Pick<OutboxHost, "identity" | "exists" | "address" | "learn" | "attempted"> {
  channel: ChannelPort;
  network: NetworkPort;
}

export interface QueuePorts {
  log: DeliveryLog;
  alarm: Pick<StandingAlarm, "by" | "set" | "gone">;
  clock: Clock;
  logger: Logger;
  /** The chat; null before its adoption and if no network delivers its messages. */
  chat(): DeliveringChat | null;
  /** False before the chat's adoption and after its deletion. */
  exists(): boolean;
  /** When the chat's other work needs the alarm, Unix milliseconds; null if it does not. */
  otherWorkAt(now: number): number | null;
  /** Keeps the object in memory until the work is done. */
  waitUntil(work: Promise<void>): void;
}

/** The queue of one chat. It sets the object's alarm, so that each message is delivered even if the object is lost. */
export class DeliveryQueue {
  readonly #ports: QueuePorts;
  readonly #outbox = new Outbox();
  /** After a fault of delivery, the alarm does not ring for the queue before this time. */
  #restsUntil = 0;
  /** A message was stored that may expire before the work of the alarm has ended. */
  readonly #mayExpireSoon = new ChangeSignal();

  constructor(ports: QueuePorts) {
    this.#ports = ports;
  }

  /** The delivery of a new message. @param depth the number of messages before it in the queue */
  newDelivery(depth: number): Delivery {
    return newDelivery(depth === 0 && !this.#outbox.isRunning, this.#ports.clock.now());
  }

  /** A message was stored with this delivery. */
  stored(seq: number, { startedAt }: Delivery): void {
    if (startedAt !== null) this.#outbox.adopt(seq);
  }

  /** Starts delivering stored messages. The output gate delays each network call until the rows are on disk. */
  start(): void {
    if (this.#expiresAt() !== null) this.#mayExpireSoon.announce();
    this.#ports.waitUntil(this.#deliver());
  }

  /** Stores a status from the network. @returns false if no message of this chat matches */
  applyStatus(news: StatusNews): boolean {
    const host = this.#host();
    const reported = host && this.#outbox.applyStatus(host, news);
    if (!reported) return false;
    host.learn(news.addresses, false);
    // The queue may have waited for this status. A broken channel must be reported before the next permit.
    this.#ports.waitUntil(this.#resume(reported));
    return true;
  }

  /** Cancels a queued message. @returns false if it may have been sent, or is being sent */
  cancel(seq: number): boolean {
    const host = this.#host();
    if (!host || !this.#outbox.cancel(host, seq)) return false;
    // The next message may be due.
    this.#ports.waitUntil(this.#resume());
    return true;
  }

  /** The attempts of a message. */
  attemptsOf(row: QueuedMessage): ShownHistory {
    const { seq, message, delivery } = row;
    const isNext = message.status === "QUEUED" && this.#ports.log.head()?.seq === seq;
    // An attempt that was stored with the message has not begun while it waits for a permit.
    const nextAt = isNext ? nextAttemptAt(delivery, this.#ports.clock.now(), expiryOf(message)) : null;
    return {
      ...historyOf(delivery, this.#outbox.isUnderWay(seq)),
      nextAttemptAt: nextAt === null ? null : new Date(nextAt).toISOString(),
    };
  }

  /** A message is about to be redacted. */
  beforeRedaction(seq: number): void {
    const host = this.#host();
    if (host) this.#outbox.beforeRedaction(host, seq);
  }

  /** A message was redacted. The next one may be due. */
  afterRedaction(): void {
    this.#ports.waitUntil(this.#resume());
  }

  /** The channel works again. A message that waited for it may be sent now. */
  wake(): void {
    const { clock, log } = this.#ports;
    this.#outbox.wake();
    const head = log.head();
    const delivery = head && afterWake(head.delivery, clock.now());
    if (delivery) log.writeDelivery(head.seq, delivery, head.parts, head.lastError);
    this.#ports.waitUntil(this.#resume());
  }

  /**
   * Handles the alarm: delivers, and does the chat's other work beside it. Neither waits for the other. It sets the next
   * alarm first and never throws, because the platform repeats an alarm that threw only a few times. No alarm rings until
   * this method returns, so it does not wait for work that takes long.
   * @param otherWork never throws
   */
  async ring(otherWork: () => Promise<void>): Promise<void> {
    const { alarm, clock, log } = this.#ports;
    alarm.gone();
    await alarm.set(clock.now() + AGAIN_AFTER_MS);
    const works = [this.#work(), otherWork()];
    let areDone = false;
    const allWork = Promise.all(works).then(() => {
      areDone = true;
    });
    const isDone = this.#mayExpireSoon.wait(allWork).then(() => areDone);
    const expiresAt = this.#expiresAt() ?? Number.POSITIVE_INFINITY;
    if (!(await inTime(clock, Math.max(0, Math.min(RING_MS, expiresAt - clock.now())), isDone))) {
      for (const work of works) this.#ports.waitUntil(work.then(() => this.#standBy()));
      return alarm.by(this.#expiresAt());
    }
    if (!this.#ports.exists()) return;
    log.messages.queue.saveFloor();
    await alarm.set(this.#dueAt());
  }

  /** Delivers due messages, and sets the alarm for the rest. */
  async #deliver(): Promise<void> {
    const expiresAt = this.#expiresAt();
    // Messages can expire while the head is being sent.
    if (expiresAt !== null) await this.#ports.alarm.by(expiresAt);
    await this.#work();
    await this.#standBy();
  }

  async #standBy(): Promise<void> {
    await this.#ports.alarm.by(this.#ports.exists() ? this.#dueAt() : null);
  }

  /** Continues after a change that may have made the head due. The alarm is set in the same commit as that change. */
  async #resume(before?: Promise<void>): Promise<void> {
    const now = this.#ports.clock.now();
    const headAt = this.#headAt(now);
    if (headAt !== null && headAt <= now) await this.#ports.alarm.by(now + AGAIN_AFTER_MS);
    await before;
    await this.#deliver();
  }

  /** Runs the outbox; never throws. */
  async #work(): Promise<void> {
    const { clock, logger } = this.#ports;
    const host = this.#host();
    if (!host) return;
    try {
      this.#outbox.expire(host);
      await this.#outbox.run(host);
      this.#restsUntil = 0;
    } catch (error) {
      this.#restsUntil = clock.now() + AGAIN_AFTER_MS;
      logger.error({ event: "delivery_interrupted", chatId: host.identity.chatId, error: causeOf(error) });
    }
  }

  #headAt(now: number): number | null {
    const head = this.#ports.chat() && this.#ports.log.head();
    return head && wakeAt(head.delivery, now, expiryOf(head.message));
  }

  /** When the next message of the queue expires; null if none does. After a fault, it is not before the queue's rest ends. */
  #expiresAt(): number | null {
    const at = this.#ports.chat() && this.#ports.log.messages.queue.expiry.earliest();
    return at && Math.max(at, this.#restsUntil);
  }

  /** When the chat needs the alarm. It is read when the alarm is set, because the queue changes while other work ends. */
  #dueAt(): number | null {
    const now = this.#ports.clock.now();
    const otherAt = this.#ports.otherWorkAt(now);
    // A fault may lie in the head itself.
    const headAt = this.#restsUntil > now ? this.#restsUntil : this.#headAt(now);
    const times = [headAt, otherAt, this.#expiresAt()].filter((at) => at !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  #host(): OutboxHost | null {
    const { alarm, clock, log, logger } = this.#ports;
    const chat = this.#ports.chat();
    if (!chat) return null;
    return {
      ...chat,
      log,
      clock,
      logger,
      standBy: (at) => alarm.by(at),
      change: this.#change,
    };
  }

  readonly #change: OutboxHost["change"] = (message, status, error, known) => {
    const { clock, log } = this.#ports;
    log.writeStatus(message, { status, error, at: clock.now() }, known);
    if (message.status === "QUEUED" && status !== "QUEUED") log.messages.queue.left(message.seq);
  };
}

/** The messages of a chat that wait for their network. @param now Unix milliseconds */
export function describeQueue(log: DeliveryLog, { channelKind }: ChatIdentity, now: number): Queue {
  // A web message is never queued. Looking for the first queued one would read the whole chat.
  const waits = channelKind !== "web";
  const head = waits ? log.head() : null;
  return {
    depth: waits ? log.messages.queue.depth() : 0,
    oldest: head?.message.createdAt ?? null,
    nextAttemptAt: head && new Date(wakeAt(head.delivery, now, expiryOf(head.message))).toISOString(),
    lastError: head?.lastError ?? null,
  };
}
