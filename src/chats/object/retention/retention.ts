import type { ChatIdentity, ChatRetention } from "../../../model/chat-answers.ts";
import type { DuePart } from "../../../platform/object/due-work.ts";
import type { Adoption } from "../identity.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { Notes } from "../notes.ts";
import type { EndedRows } from "../scheduled/ended-rows.ts";
import { keptMs, lastToDelete, nextLookAt } from "./decisions.ts";

/** The messages of one step, with a place and without one. A send that arrives meanwhile waits for one step at most. */
const STEP_SIZE = 250;
/** A run that deletes more leaves the rest to the next alarm. */
const MAX_STEPS = 200;
const KEPT_FOR_EVER: ChatRetention = { days: null, version: 0 };

/** A chat, as its retention uses it. */
export interface RetentionHost {
  kv: SyncKvStorage;
  log: MessageLog;
  /** The messages that ended without a place. */
  ended: Pick<EndedRows, "oldestAt" | "purge">;
  notes: Pick<Notes, "oldestAt" | "purge">;
  /** Undefined before the chat's adoption and after its deletion. */
  adoption: Pick<Adoption, "identity" | "exists">;
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
}

/**
 * Deletes a chat's messages once they are older than its channel's retention, and then the chat itself once nothing
 * happens in it. The decisions are in `decisions.ts`. Before it deletes anything, it asks whether the retention still
 * holds. Each step is one commit, so an interrupted run is continued by the alarm.
 */
export class Retention implements DuePart {
  readonly #host: RetentionHost;
  #copy: ChatRetention | undefined;
  /** Whether the organization's object has confirmed the retention since it was asked. */
  #isConfirmed = false;
  /** When everything that could be deleted was deleted, Unix milliseconds. */
  #lookedAt = 0;

  constructor(host: RetentionHost) {
    this.#host = host;
  }

  /** When the chat looks for old messages, Unix milliseconds; null if it never does. It can be in the past. */
  dueAt(now: number): number | null {
    const kept = this.#keptMs();
    const identity = this.#host.adoption.identity();
    if (kept === null || !identity) return null;
    const endsAt = this.#oldestAt() + kept;
    return nextLookAt(identity.chatId, Math.max(endsAt, Math.min(this.#lookedAt, now) + 1));
  }

  /** The organization's object says how long messages are kept. Undefined changes nothing. */
  onRetention(retention: ChatRetention | undefined): void {
    if (!retention || !this.#host.adoption.identity()) return;
    const stored = this.#stored();
    if (retention.version > stored.version && (retention.days ?? stored.days) !== null) {
      this.#host.kv.put("retention", retention);
      this.#copy = retention;
    }
    this.#isConfirmed = retention.days === this.#stored().days;
  }

  /** Deletes what is due. @throws if the organization's object does not answer */
  async run(now: number): Promise<void> {
    const { log } = this.#host;
    const chat = this.#host.adoption.identity();
    const dueAt = this.dueAt(now);
    if (!chat || dueAt === null || dueAt > now) return;
    const exists = () => this.#host.adoption.exists(chat.life);
    this.#isConfirmed = false;
    await this.#host.ask();
    if (!exists()) return;
    if (!this.#isConfirmed) throw new Error("The retention was not confirmed");
    for (let steps = 1; this.#step(now); steps++) {
      if (steps === MAX_STEPS) return;
      // Lets other events run between the steps.
      await scheduler.wait(0);
      if (!exists()) return;
    }
    const isReported = await this.#host.report();
    if (!exists()) return;
    const kept = this.#keptMs();
    const isOver = kept !== null && log.isEmpty && this.#oldestAt() + kept <= now && this.#host.isIdle(now);
    if (!isReported || (isOver && !this.#host.isReported())) throw new Error("The deletion was not reported");
    if (isOver) await this.#host.deleteChat(chat);
    else this.#lookedAt = now;
  }

  /** The storage was deleted. */
  forget(): void {
    this.#copy = undefined;
    this.#lookedAt = 0;
  }

  /** Deletes the oldest messages. @returns whether it deleted any */
  #step(now: number): boolean {
    const { ended, log, notes } = this.#host;
    const kept = this.#keptMs();
    if (kept === null) return false;
    const isNoteRemoved = notes.purge(now - kept);
    const isAnyRemoved = ended.purge((endedAt) => endedAt > now - kept, STEP_SIZE) || isNoteRemoved;
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
    const { ended, notes } = this.#host;
    return Math.min(placedAt, ended.oldestAt() ?? placedAt, notes.oldestAt() ?? placedAt);
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
