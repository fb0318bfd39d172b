import type { ChatIdentity, Queue, ShownHistory, StatusNews } from "../../../model/chat-answers.ts";
import { expiryOf } from "../../../model/message.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Logger } from "../../../platform/log.ts";
import type { StandingAlarm } from "../../../platform/object/alarm.ts";
import type { DuePart, DueWork } from "../../../platform/object/due-work.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { NetworkPort, OutboxHost } from "./attempt.ts";
import { historyOf } from "./attempt-history.ts";
import { afterWake } from "./head.ts";
import type { FileStore } from "./message-files.ts";
import { Outbox } from "./outbox.ts";
import type { ChannelPort } from "./permit.ts";
import { type Delivery, newDelivery, nextAttemptAt, wakeAt } from "./retry.ts";
import type { QueuedMessage } from "./row.ts";

/** In case the object is lost before a delivery begins. */
const AGAIN_AFTER_MS = 30_000;

/** A chat, as delivery uses it. */
export interface DeliveringChat extends Pick<OutboxHost, "identity" | "exists" | "address" | "learn" | "attempted"> {
  channel: ChannelPort;
  network: NetworkPort;
  files: FileStore;
}

export interface QueuePorts {
  log: MessageLog;
  alarm: Pick<StandingAlarm, "by">;
  due(): Pick<DueWork, "start" | "release">;
  clock: Clock;
  logger: Logger;
  /** The chat; null before its adoption and if no network delivers its messages. */
  chat(): DeliveringChat | null;
  /** Keeps the object in memory until the work is done. */
  waitUntil(work: Promise<void>): void;
}

/** The queue of one chat. The alarm of its object delivers what is left if the object is lost. */
export class DeliveryQueue implements DuePart {
  readonly #ports: QueuePorts;
  readonly #outbox = new Outbox();
  /** A part of its own, because messages also expire while another one is being sent. */
  readonly expiry: DuePart = { dueAt: () => this.#expiresAt(), run: () => this.#expire() };

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
    const due = this.#ports.due();
    const expiresAt = this.#expiresAt();
    // Messages can expire while the head is being sent, and while an alarm waits for its runs.
    if (expiresAt !== null) {
      this.#ports.waitUntil(this.#ports.alarm.by(expiresAt));
      due.release();
    }
    // A new message is not held up by a failure before it.
    due.start(this, true);
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
    const isNext = message.status === "QUEUED" && this.#ports.log.queue.head()?.seq === seq;
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
    const head = log.queue.head();
    const delivery = head && afterWake(head.delivery, clock.now());
    if (delivery) log.writeDelivery(head.seq, { ...head, delivery });
    this.#ports.waitUntil(this.#resume());
  }

  /** When the head must be looked at; null if nothing is queued. */
  dueAt(now: number): number | null {
    const head = this.#ports.chat() && this.#ports.log.queue.head();
    return head && wakeAt(head.delivery, now, expiryOf(head.message));
  }

  /** Delivers due messages. */
  async run(): Promise<void> {
    this.#expire();
    const host = this.#host();
    if (!host) return;
    await this.#outbox.run(host);
    if (host.exists()) this.#ports.log.queue.saveFloor();
  }

  /** Continues after a change that may have made the head due. The alarm is set in the same commit as that change. */
  async #resume(before?: Promise<void>): Promise<void> {
    const now = this.#ports.clock.now();
    const headAt = this.dueAt(now);
    if (headAt !== null && headAt <= now) await this.#ports.alarm.by(now + AGAIN_AFTER_MS);
    await before;
    this.start();
  }

  #expire(): void {
    const host = this.#host();
    if (host) this.#outbox.expire(host);
  }

  /** When the next message of the queue expires; null if none does. */
  #expiresAt(): number | null {
    return this.#ports.chat() && this.#ports.log.queue.expiry.earliest();
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
    if (message.status === "QUEUED" && status !== "QUEUED") log.queue.left(message.seq);
  };
}

/** The messages of a chat that wait for their network. @param now Unix milliseconds */
export function describeQueue(log: MessageLog, { channelKind }: ChatIdentity, now: number): Queue {
  // A web message is never queued. Looking for the first queued one would read the whole chat.
  const waits = channelKind !== "web";
  const head = waits ? log.queue.head() : null;
  return {
    depth: waits ? log.queue.depth() : 0,
    oldest: head?.message.createdAt ?? null,
    nextAttemptAt: head && new Date(wakeAt(head.delivery, now, expiryOf(head.message))).toISOString(),
    lastError: head?.lastError ?? null,
  };
}
