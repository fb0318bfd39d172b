import { causeOf, type Logger } from "../../../log.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { ChatIdentity, ChatRetention } from "../../rpc.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { ScheduledMessages } from "../scheduled/scheduled-messages.ts";
import { keptMs, lastToDelete, nextLookAt } from "./decisions.ts";

/** The messages of one step, with a place and without one. A send that arrives meanwhile waits for one step at most. */
const STEP_SIZE = 250;
/** A run that deletes more leaves the rest to the next alarm. */
const MAX_STEPS = 200;
const AGAIN_AFTER_MS = 30_000;
const KEPT_FOR_EVER: ChatRetention = { days: null, version: 0 };

/** A chat, as its retention uses it. */
export interface RetentionHost {
  kv: SyncKvStorage;
  log: MessageLog;
  /** The messages that ended without a place. */
  ended: Pick<ScheduledMessages, "oldestEndedAt" | "removeEnded">;
  clock: Pick<Clock, "now">;
  logger: Pick<Logger, "error">;
  /** Undefined before the chat's adoption and after its deletion. */
  identity(): ChatIdentity | undefined;
  /** Asks the organization's object, which calls `onRetention` before this resolves, unless it does not answer. */
  ask(): Promise<void>;
  /** Reports that messages were deleted. @returns false if the organization's object does not answer */
  report(): Promise<boolean>;
  /** Messages are about to be deleted. */
  beforeDeletion(): void;
  /** Whether the organization's object has everything that the chat reports. */
  isReported(): boolean;
  /** Whether nothing waits in the chat, besides its messages, and no visitor is online. */
  isIdle(now: number): boolean;
  /** Deletes the whole chat. */
  deleteChat(identity: ChatIdentity): Promise<void>;
  /** Keeps the object in memory until the work is done. */
  waitUntil(work: Promise<void>): void;
}

/**
 * Deletes a chat's messages once they are older than its channel keeps them, and then the chat itself once nothing
 * happens in it. The decisions are in `decisions.ts`. Before it deletes anything, it asks whether the retention still
 * holds. Each step is one commit, so an interrupted run is continued by the alarm.
 */
export class Retention {
  readonly #host: RetentionHost;
  #copy: ChatRetention | undefined;
  /** A run is under way until then, Unix milliseconds. A run that ends later was lost, for example with its alarm. */
  #busyUntil = 0;
  /** Whether the organization's object has confirmed the retention since it was asked. */
  #isConfirmed = false;
  /** When everything was deleted that could be, Unix milliseconds. */
  #lookedAt = 0;
  /** After a fault, nothing is tried before `until`. If the clock was set back to before `since`, it does not matter. */
  #rest: { since: number; until: number } | null = null;

  constructor(host: RetentionHost) {
    this.#host = host;
  }

  /** When the chat looks for old messages, Unix milliseconds; null if it never does. It can be in the past. */
  dueAt(now: number): number | null {
    const kept = this.#keptMs();
    const identity = this.#host.identity();
    if (kept === null || !identity) return null;
    if (this.#isBusy(now)) return this.#busyUntil;
    const endsAt = this.#oldestAt() + kept;
    const at = nextLookAt(identity.chatId, Math.max(endsAt, Math.min(this.#lookedAt, now) + 1));
    return this.#rest && this.#rest.since <= now ? Math.max(at, this.#rest.until) : at;
  }

  /** The organization's object says how long messages are kept. Undefined changes nothing. */
  onRetention(retention: ChatRetention | undefined): void {
    if (!retention || !this.#host.identity()) return;
    const stored = this.#stored();
    if (retention.version > stored.version && (retention.days ?? stored.days) !== null) {
      this.#host.kv.put("retention", retention);
      this.#copy = retention;
    }
    this.#isConfirmed = retention.days === this.#stored().days;
  }

  /** Deletes what is due; never throws. The alarm must be set: it continues an interrupted run. */
  async run(): Promise<void> {
    const now = this.#host.clock.now();
    const identity = this.#host.identity();
    const dueAt = this.dueAt(now);
    if (!identity || dueAt === null || dueAt > now) return;
    const run = this.#run(identity, now);
    // It goes on even if the rest of the alarm fails.
    this.#host.waitUntil(run);
    await run;
  }

  async #run(identity: ChatIdentity, now: number): Promise<void> {
    this.#busyUntil = now + AGAIN_AFTER_MS;
    try {
      if (!(await this.#deleteOld(identity, now))) this.#rest = { since: now, until: now + AGAIN_AFTER_MS };
    } catch (error) {
      this.#rest = { since: now, until: now + AGAIN_AFTER_MS };
      const { chatId } = identity;
      this.#host.logger.error({ event: "messages_not_deleted", chatId, error: causeOf(error) });
    } finally {
      this.#busyUntil = 0;
    }
  }

  /** The storage was deleted. */
  forget(): void {
    this.#copy = undefined;
    this.#lookedAt = 0;
    this.#rest = null;
  }

  /** The clock may have been set back. */
  #isBusy(now: number): boolean {
    return now < this.#busyUntil && this.#busyUntil - now <= AGAIN_AFTER_MS;
  }

  /** @returns false if the organization's object does not answer */
  async #deleteOld(identity: ChatIdentity, now: number): Promise<boolean> {
    const { log } = this.#host;
    const exists = () => this.#host.identity()?.life === identity.life;
    this.#isConfirmed = false;
    await this.#host.ask();
    if (!exists()) return true;
    if (!this.#isConfirmed) return false;
    for (let steps = 1; this.#step(now); steps++) {
      if (steps === MAX_STEPS) return true;
      this.#busyUntil = this.#host.clock.now() + AGAIN_AFTER_MS;
      // Lets other events run between the steps.
      await scheduler.wait(0);
      if (!exists()) return true;
    }
    if (!(await this.#host.report())) return false;
    if (!exists()) return true;
    const kept = this.#keptMs();
    const isOver = kept !== null && log.isEmpty && this.#oldestAt() + kept <= now && this.#host.isIdle(now);
    if (isOver && !this.#host.isReported()) return false;
    if (isOver) await this.#host.deleteChat(identity);
    else this.#lookedAt = now;
    return true;
  }

  /** Deletes the oldest messages. @returns whether it deleted any */
  #step(now: number): boolean {
    const { ended, log } = this.#host;
    const kept = this.#keptMs();
    if (kept === null) return false;
    const isAnyRemoved = ended.removeEnded(now - kept, STEP_SIZE);
    const last = lastToDelete(log.floor.oldest(STEP_SIZE), kept, now);
    if (!last) return isAnyRemoved;
    this.#host.beforeDeletion();
    log.deleteUpTo(last);
    return true;
  }

  /** The time of the oldest message; in a chat without messages, of what happened last. */
  #oldestAt(): number {
    const { events, floor, isEmpty } = this.#host.log;
    const placedAt = (isEmpty ? events.range(events.newest, events.newest)[0]?.at : floor.oldestAt()) ?? 0;
    return Math.min(placedAt, this.#host.ended.oldestEndedAt() ?? placedAt);
  }

  /** How long messages are kept, in milliseconds; null forever. */
  #keptMs(): number | null {
    return keptMs(this.#stored());
  }

  #stored(): ChatRetention {
    this.#copy ??= this.#host.kv.get<ChatRetention>("retention") ?? KEPT_FOR_EVER;
    return this.#copy;
  }
}
