import type { CallerName } from "../../model/chat-answers.ts";
import { isoTimeOrNull } from "../../model/time.ts";
import { OPEN, type WorkStatus } from "../../model/work-state.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { Adoption } from "./identity.ts";
import type { NewEvent } from "./log/event-log.ts";
import type { MessageLog } from "./log/message-log.ts";

const KEY = "work";

interface Parts {
  storage: { kv: SyncKvStorage };
  adoption: Pick<Adoption, "identity">;
  log: Pick<MessageLog, "commit" | "newest">;
  report: Pick<ChatReporter, "stateChanged">;
}

/** What is stored; nothing of a chat that was open all the time. */
interface Stored extends WorkStatus {
  /** The seq of the newest message when the chat was last closed: up to it, nothing waits for an answer. */
  closedAfter?: number;
}

/** A change of the state, with its event. The caller writes both in one commit. */
export interface WorkChange {
  event: NewEvent;
  write: () => void;
}

/** Whether the work on the chat is open, put off or done. A snooze ends in the chat's own alarm. */
export class ChatWork implements DuePart {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  now(): WorkStatus {
    const { state, snoozedUntil } = this.#stored();
    return { state, snoozedUntil };
  }

  /** The seq up to which nothing waits for an answer, because the chat was closed; null if it never was. */
  closedAfter(): number | null {
    return this.#stored().closedAfter ?? null;
  }

  /** A change to another state; null if the chat is in it. @param by null for a message of the contact, or a time */
  changeTo(work: WorkStatus, by: CallerName | null): WorkChange | null {
    const before = this.#stored();
    const { state, snoozedUntil } = work;
    if (state === before.state && snoozedUntil === before.snoozedUntil) return null;
    const { kv } = this.#parts.storage;
    const closedAfter = state === "closed" ? this.#parts.log.newest().seq : before.closedAfter;
    const note = { state, snoozedUntil: isoTimeOrNull(snoozedUntil), by };
    return {
      event: { type: "chat.state", seq: null, note, at: Date.now() },
      write: () => kv.put(KEY, { state, snoozedUntil, ...(closedAfter !== undefined && { closedAfter }) }),
    };
  }

  /** The contact waits again for an answer to messages from before: opens the chat. */
  waitsAgain(by: CallerName | null): void {
    const change = this.reopened(by);
    if (!change) return;
    this.#parts.log.commit(change.event ? [change.event] : [], change.write);
    if (change.event) this.#parts.report.stateChanged();
  }

  /**
   * A change after which the chat is open and messages from before it was closed can wait for an answer; null if that is
   * so. `event`: null if it was open.
   */
  reopened(by: CallerName | null): { event: NewEvent | null; write: () => void } | null {
    const change = this.changeTo(OPEN, by);
    if (!change && this.closedAfter() === null) return null;
    return { event: change?.event ?? null, write: () => this.#parts.storage.kv.delete(KEY) };
  }

  /** When the snooze ends, Unix milliseconds; null if the chat is not snoozed. It can be in the past. */
  dueAt(): number | null {
    return this.#parts.adoption.identity() ? this.#stored().snoozedUntil : null;
  }

  /** Ends the snooze, if its time has come. */
  run(now: number): void {
    const until = this.dueAt();
    if (until === null || until > now) return;
    const change = this.changeTo(OPEN, null);
    if (!change) return;
    this.#parts.log.commit([change.event], change.write);
    this.#parts.report.stateChanged();
  }

  #stored(): Stored {
    return this.#parts.storage.kv.get<Stored>(KEY) ?? OPEN;
  }
}
