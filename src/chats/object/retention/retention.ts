import type { ChatRetention } from "../../../model/chat-answers.ts";
import { earliest } from "../../../platform/object/alarm.ts";
import type { DuePart } from "../../../platform/object/due-work.ts";
import type { ObjectSubscriptions } from "../../../webhooks/subscription/object-subscriptions.ts";
import type { ChatReporter } from "../chat-report.ts";
import type { ContactAddresses } from "../contact-addresses.ts";
import type { Erasure } from "../erasure.ts";
import type { ChatFiles } from "../files/chat-files.ts";
import type { Adoption } from "../identity.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { Notes } from "../notes.ts";
import type { ScheduledMessages } from "../scheduled/scheduled-messages.ts";
import type { VisitorSockets } from "../visitors/visitor-sockets.ts";
import { keptMs, lastToDelete, nextLookAt } from "./decisions.ts";

/** The messages of one step, with a place and without one. A send that arrives meanwhile waits for one step at most. */
const STEP_SIZE = 250;
/** A run that deletes more leaves the rest to the next alarm. */
const MAX_STEPS = 200;
const KEPT_FOR_EVER: ChatRetention = { days: null, version: 0 };

interface Parts {
  storage: DurableObjectStorage;
  log: MessageLog;
  notes: Notes;
  adoption: Adoption;
  scheduled: ScheduledMessages;
  report: ChatReporter;
  contact: ContactAddresses;
  subscriptions: ObjectSubscriptions;
  visitors: VisitorSockets;
  files: ChatFiles;
  erasure: Erasure;
}

/**
 * Deletes a chat's messages once they are older than its channel's retention, and then the chat itself once nothing
 * happens in it. The decisions are in `decisions.ts`. Before it deletes anything, it asks whether the retention still
 * holds. Each step is one commit, so an interrupted run is continued by the alarm.
 */
export class Retention implements DuePart {
  readonly #parts: Parts;
  #copy: ChatRetention | undefined;
  /** Whether the organization's object has confirmed the retention since it was asked. */
  #isConfirmed = false;
  /** When everything that could be deleted was deleted, Unix milliseconds. */
  #lookedAt = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** When the chat looks for old messages, Unix milliseconds; null if it never does. It can be in the past. */
  dueAt(now: number): number | null {
    const kept = this.#keptMs();
    const identity = this.#parts.adoption.identity();
    if (kept === null || !identity) return null;
    const endsAt = this.#oldestAt() + kept;
    return nextLookAt(identity.chatId, Math.max(endsAt, Math.min(this.#lookedAt, now) + 1));
  }

  /** The organization's object says how long messages are kept. Undefined changes nothing. */
  onRetention(retention: ChatRetention | undefined): void {
    if (!retention || !this.#parts.adoption.identity()) return;
    const stored = this.#stored();
    if (retention.version > stored.version && (retention.days ?? stored.days) !== null) {
      this.#parts.storage.kv.put("retention", retention);
      this.#copy = retention;
      this.#parts.report.stateChanged();
    }
    this.#isConfirmed = retention.days === this.#stored().days;
  }

  /** Deletes what is due. @throws if the organization's object does not answer */
  async run(now: number): Promise<void> {
    const { adoption, erasure, log, report } = this.#parts;
    const chat = adoption.identity();
    const dueAt = this.dueAt(now);
    if (!chat || dueAt === null || dueAt > now) return;
    const exists = () => adoption.exists(chat.life);
    this.#isConfirmed = false;
    // The answer comes to `onRetention` before this resolves.
    await report.repeat();
    if (!exists()) return;
    if (!this.#isConfirmed) throw new Error("The retention was not confirmed");
    for (let steps = 1; this.#step(now); steps++) {
      if (steps === MAX_STEPS) return;
      // Lets other events run between the steps.
      await scheduler.wait(0);
      if (!exists()) return;
    }
    const isReported = await report.settle(false);
    if (!exists()) return;
    const kept = this.#keptMs();
    const isOver = kept !== null && log.isEmpty && this.#oldestAt() + kept <= now && this.#isIdle(now);
    if (!isReported || (isOver && !this.#isReported())) throw new Error("The deletion was not reported");
    if (isOver) await erasure.deleteChat(chat);
    else this.#lookedAt = now;
  }

  forget(): void {
    this.#copy = undefined;
    this.#lookedAt = 0;
  }

  /** Whether the organization's object has everything that the chat reports. */
  #isReported(): boolean {
    const { contact, report } = this.#parts;
    return report.dueAt() === null && !contact.hasPending;
  }

  /** Whether nothing waits in the chat, besides its messages, and no visitor is online. */
  #isIdle(now: number): boolean {
    const { files, subscriptions, scheduled, visitors } = this.#parts;
    return !visitors.isOnline && earliest([subscriptions.dueAt(now), scheduled.dueAt(now), files.dueAt(now)]) === null;
  }

  /** Deletes the oldest messages. @returns whether it deleted any */
  #step(now: number): boolean {
    const { subscriptions, log, notes, report, scheduled } = this.#parts;
    const kept = this.#keptMs();
    if (kept === null) return false;
    const mentions = JSON.stringify(notes.mentions());
    const isNoteRemoved = notes.purge(now - kept);
    if (JSON.stringify(notes.mentions()) !== mentions) report.stateChanged();
    const isAnyRemoved = scheduled.ended.purge((endedAt) => endedAt > now - kept, STEP_SIZE) || isNoteRemoved;
    const last = lastToDelete(log.floor.oldest(STEP_SIZE), kept, now);
    if (!last) return isAnyRemoved;
    subscriptions.all.forgetResponses();
    log.deleteUpTo(last);
    return true;
  }

  /** The time of the oldest message; in a chat without messages, of what happened last. */
  #oldestAt(): number {
    const { events, floor, isEmpty } = this.#parts.log;
    const placedAt = (isEmpty ? events.range(events.newest, events.newest)[0]?.at : floor.oldestAt()) ?? 0;
    const { notes, scheduled } = this.#parts;
    return Math.min(placedAt, scheduled.ended.oldestAt() ?? placedAt, notes.oldestAt() ?? placedAt);
  }

  /** How long messages are kept, in milliseconds; null forever. */
  #keptMs(): number | null {
    return keptMs(this.#stored());
  }

  #stored(): ChatRetention {
    this.#copy ??= this.#parts.storage.kv.get<ChatRetention>("retention") ?? KEPT_FOR_EVER;
    return this.#copy;
  }
}
