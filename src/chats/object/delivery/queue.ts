import type { ChatIdentity, Queue, ShownHistory, StatusNews } from "../../../model/chat-answers.ts";
import { expiryOf } from "../../../model/message.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { StandingAlarm } from "../../../platform/object/alarm.ts";
import type { DuePart, DueWork } from "../../../platform/object/due-work.ts";
import type { Delivery, QueuedMessage } from "../log/delivery-column.ts";
import type { MessageLog } from "../log/message-log.ts";
import { historyOf } from "./attempt-history.ts";
import { afterWake } from "./head.ts";
import type { NetworkChat } from "./network-chat.ts";
import { Outbox } from "./outbox.ts";
import { newDelivery, nextAttemptAt, wakeAt } from "./retry.ts";

/** In case the object is lost before a delivery begins. */
const AGAIN_AFTER_MS = 30_000;

interface Parts {
  log: MessageLog;
  alarm: StandingAlarm;
  due: DueWork;
  clock: Clock;
  ctx: DurableObjectState;
  /** The chat; null before its adoption and if no network delivers its messages. */
  networkChat(): NetworkChat | null;
}

/** The queue of one chat. The alarm of its object delivers what is left if the object is lost. */
export class DeliveryQueue implements DuePart {
  readonly #parts: Parts;
  readonly #outbox = new Outbox();
  /** A part of its own, because messages also expire while another one is being sent. */
  readonly expiry: DuePart = { dueAt: () => this.#expiresAt(), run: () => this.#expire() };

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether it is not known under which ids a message of the chat is at its network. */
  get isOutcomeOpen(): boolean {
    const chat = this.#parts.networkChat();
    return chat !== null && this.#outbox.isOutcomeOpen(chat);
  }

  /** The delivery of a new message. @param depth the number of messages before it in the queue */
  newDelivery(depth: number): Delivery {
    return newDelivery(depth === 0 && !this.#outbox.isRunning, this.#parts.clock.now());
  }

  /** A message was stored with this delivery. */
  stored(seq: number, { startedAt }: Delivery): void {
    if (startedAt !== null) this.#outbox.adopt(seq);
  }

  /** Starts delivering stored messages. The output gate delays each network call until the rows are on disk. */
  start(): void {
    const due = this.#parts.due;
    const expiresAt = this.#expiresAt();
    // Messages can expire while the head is being sent, and while an alarm waits for its runs.
    if (expiresAt !== null) {
      this.#parts.ctx.waitUntil(this.#parts.alarm.by(expiresAt));
      due.release();
    }
    // A new message is not held up by a failure before it.
    due.start(this, true);
  }

  /** Stores a status from the network. @returns false if no message of this chat matches */
  applyStatus(news: StatusNews): boolean {
    const chat = this.#parts.networkChat();
    const reported = chat && this.#outbox.applyStatus(chat, news);
    if (!reported) return false;
    chat.parts.contact.learn(news.addresses);
    // The queue may have waited for this status. A broken channel must be reported before the next permit.
    this.#parts.ctx.waitUntil(this.#resume(reported));
    return true;
  }

  /** Cancels a queued message. @returns false if it may have been sent, or is being sent */
  cancel(seq: number): boolean {
    const chat = this.#parts.networkChat();
    if (!chat || !this.#outbox.cancel(chat, seq)) return false;
    // The next message may be due.
    this.#parts.ctx.waitUntil(this.#resume());
    return true;
  }

  attemptsOf(row: QueuedMessage): ShownHistory {
    const { seq, message, delivery } = row;
    const isNext = message.status === "QUEUED" && this.#parts.log.queue.head()?.seq === seq;
    // An attempt that was stored with the message has not begun while it waits for a permit.
    const nextAt = isNext ? nextAttemptAt(delivery, this.#parts.clock.now(), expiryOf(message)) : null;
    return {
      ...historyOf(delivery, this.#outbox.isUnderWay(seq)),
      nextAttemptAt: nextAt === null ? null : new Date(nextAt).toISOString(),
    };
  }

  /** A message is about to be redacted. */
  beforeRedaction(seq: number): void {
    const chat = this.#parts.networkChat();
    if (chat) this.#outbox.beforeRedaction(chat, seq);
  }

  /** A message was redacted. The next one may be due. */
  afterRedaction(): void {
    this.#parts.ctx.waitUntil(this.#resume());
  }

  /** The channel works again. A message that waited for it may be sent now. */
  wake(): void {
    const { clock, log } = this.#parts;
    this.#outbox.wake();
    const head = log.queue.head();
    const delivery = head && afterWake(head.delivery, clock.now());
    if (delivery) log.writeDelivery(head.seq, { ...head, delivery });
    this.#parts.ctx.waitUntil(this.#resume());
  }

  /** When the head must be looked at; null if nothing is queued. */
  dueAt(now: number): number | null {
    const head = this.#parts.networkChat() && this.#parts.log.queue.head();
    return head && wakeAt(head.delivery, now, expiryOf(head.message));
  }

  async run(): Promise<void> {
    this.#expire();
    const chat = this.#parts.networkChat();
    if (!chat) return;
    await this.#outbox.run(chat);
    if (chat.exists()) this.#parts.log.queue.saveFloor();
  }

  /** Continues after a change that may have made the head due. The alarm is set in the same commit as that change. */
  async #resume(before?: Promise<void>): Promise<void> {
    const now = this.#parts.clock.now();
    const headAt = this.dueAt(now);
    if (headAt !== null && headAt <= now) await this.#parts.alarm.by(now + AGAIN_AFTER_MS);
    await before;
    this.start();
  }

  #expire(): void {
    const chat = this.#parts.networkChat();
    if (chat) this.#outbox.expire(chat);
  }

  /** When the next message of the queue expires; null if none does. */
  #expiresAt(): number | null {
    return this.#parts.networkChat() && this.#parts.log.queue.expiry.earliest();
  }
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
