import type {
  ChatIdentity,
  Due,
  MessageAnswer,
  MoveAnswer,
  MoveBody,
  Prepared,
  RefusedDraft,
  Unknown,
  WalkedDue,
} from "../../../model/chat-answers.ts";
import { ERRORS } from "../../../model/error.ts";
import type { MessageWithoutSeq } from "../../../model/message.ts";
import { scheduleCursor } from "../../../model/schedule.ts";
import type { Clock } from "../../../platform/clock.ts";
import { causeOf, type Logger } from "../../../platform/log.ts";
import { earliest } from "../../../platform/object/alarm.ts";
import type { DuePart } from "../../../platform/object/due-work.ts";
import type { ChatReporter } from "../chat-report.ts";
import { type ChatFiles, isFileMedia } from "../files/chat-files.ts";
import type { Adoption } from "../identity.ts";
import type { ChatTables } from "../log/chat-tables.ts";
import type { NewEvent } from "../log/event-log.ts";
import { isFull, limitReached } from "../log/limits.ts";
import type { MessageLog } from "../log/message-log.ts";
import { type AcceptedDraft, scheduledMessage } from "../log/new-message.ts";
import { redacted } from "../log/redaction.ts";
import type { SendConditions } from "../send-conditions.ts";
import { withStatus } from "../status-change.ts";
import { bySoonest, changedTimes, dueStep, isDue, MAX_SCHEDULED, purgeAt, SOON_MS } from "./decisions.ts";
import { type EndedRow, EndedWithoutSeq, UNANSWERED } from "./ended-without-seq.ts";
import { scheduledEvent, timeOf, withTimes } from "./message-times.ts";
import { PlaceTries } from "./place-tries.ts";
import { type RowWithoutSeq, type ScheduledEntry, ScheduledRows } from "./scheduled-rows.ts";

/** The messages that are removed at once. If more ended long ago, the alarm rings again for the rest. */
const PURGE_SIZE = 250;

interface Parts {
  tables: ChatTables;
  files: ChatFiles;
  log: MessageLog;
  clock: Clock;
  logger: Logger;
  adoption: Adoption;
  report: ChatReporter;
  conditions: SendConditions;
  /** See `MessageStore`, which uses scheduled messages, so its class isn't imported. */
  store: { place(identity: ChatIdentity, row: RowWithoutSeq, remove: () => void): string };
  /** How many messages wait for their network. */
  depth(): number;
}

/**
 * A chat's scheduled messages. They have no place in the chat: each takes the next `seq` when it is due. The decisions
 * are in `decisions.ts`; this class carries them out. Each change is one commit, and nothing is awaited, so of a move, a
 * cancellation and the due time of one message, the first wins.
 */
export class ScheduledMessages implements DuePart {
  readonly #parts: Parts;
  readonly #rows: ScheduledRows;
  readonly ended: EndedWithoutSeq;
  readonly #tries = new PlaceTries();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#rows = new ScheduledRows(parts.tables);
    this.ended = new EndedWithoutSeq(parts.tables, (media, messageId, now) => parts.files.end(media, messageId, now));
  }

  /** When the next message is due, Unix milliseconds; null if none is scheduled. It can be in the past. */
  nextDueAt(): number | null {
    if (!this.#parts.adoption.identity()) return null;
    const soonest = this.#rows.entries().reduce((least, { dueAt }) => Math.min(least, dueAt), Number.POSITIVE_INFINITY);
    return soonest === Number.POSITIVE_INFINITY ? null : soonest;
  }

  /** Whether a message is about to take its place. */
  hasSoon(): boolean {
    const soon = this.#parts.clock.now() + SOON_MS;
    if (!this.#parts.adoption.identity()) return false;
    return this.#rows.entries().some(({ id, dueAt }) => dueAt <= soon && this.#tries.aloneAt(id) <= soon);
  }

  /** When the alarm must ring, Unix milliseconds; null if never. */
  dueAt(now: number): number | null {
    if (!this.#parts.adoption.identity()) return null;
    const oldestAt = this.ended.oldestAt();
    const nextPlaceAt = earliest(this.#rows.entries().map((entry) => this.#tries.nextAt(entry, now)));
    return earliest([nextPlaceAt, oldestAt === null ? null : purgeAt(oldestAt)]);
  }

  /** When a scheduled message tries to take its place, Unix milliseconds; null if it is not scheduled. */
  nextTryAt(id: string): number | null {
    const entry = this.#rows.entries().find((each) => each.id === id);
    const now = this.#parts.clock.now();
    return entry ? Math.max(now, this.#tries.nextAt(entry, now)) : null;
  }

  /**
   * Stores a message for later.
   * @param dueAt Unix milliseconds
   * @returns its JSON, or the reason why the chat can't store it
   */
  accept(
    { chatId, createdAt }: ChatIdentity,
    draft: AcceptedDraft,
    prepared: Prepared,
    dedupe: string | null,
    dueAt: number,
  ): string | RefusedDraft {
    if (this.#rows.count >= MAX_SCHEDULED) return { outcome: "refused", code: "schedule_full" };
    if (isFull(this.#parts.log)) return { outcome: "refused", code: "chat_full" };
    const at = new Date(Math.max(this.#parts.clock.now(), createdAt)).toISOString();
    const message = scheduledMessage(draft, prepared, { chatId, at });
    const { fingerprint, media = null, isNamed, isBot, ifOpen, sentDraft } = draft;
    const row = { message, dedupe, fingerprint, template: prepared.template, media, isNamed, isBot, ifOpen };
    // The number of its event. No other message ever gets the same turn, so a cursor stays exact.
    const turn = this.#parts.log.events.newest + 1;
    this.#commit([scheduledEvent(message), ...(sentDraft ? [sentDraft.event] : [])], () => {
      draft.takeFile?.();
      sentDraft?.write();
      this.#rows.insert(row, { dueAt, turn });
    });
    return JSON.stringify(message);
  }

  /** A message without a place, scheduled or ended; null if there is none. */
  find(id: string): EndedRow | null {
    const scheduled = this.#rows.byId(id);
    return scheduled ? { ...scheduled, redactedBy: null } : this.ended.byId(id);
  }

  /** Whether a message without a place shows an uploaded file. */
  showsFile(fileId: string): boolean {
    const shows = (table: string) => `select 1 from ${table} where media ->> '$.fileId' = ?`;
    const { scheduled, unplaced } = this.#parts.tables;
    return [scheduled.run(shows("scheduled"), fileId), unplaced.run(shows("unplaced"), fileId)].flat().length > 0;
  }

  /** The message without a place that a call or an idempotency key stored first. */
  byDedupe(dedupe: string): { doc: string; fingerprint: string | null } | null {
    const entry = this.#rows.entries().find((each) => each.dedupe === dedupe);
    const row = entry ? this.#rows.read(entry) : this.ended.byDedupe(dedupe);
    return row && { doc: JSON.stringify(row.message), fingerprint: row.fingerprint };
  }

  /**
   * The response body of the list: the scheduled messages after a position, soonest first, as JSON. A walk leaves out a
   * message that got another time since it began, because it may have been shown.
   */
  list(limit: number, after: (Due & Partial<WalkedDue>) | null): string {
    const entries = this.#rows.entries();
    const start = after?.start ?? this.#parts.log.events.newest;
    const stayed = entries.filter(({ timedBy }) => timedBy <= start);
    const following = stayed.filter((entry) => !after || bySoonest(entry, after) > 0).sort(bySoonest);
    const page = following.slice(0, limit);
    const last = page.at(-1);
    const chatId = this.#parts.adoption.identity()?.chatId;
    const cursor = chatId && last && following.length > limit ? scheduleCursor(chatId, { ...last, start }) : null;
    const hasNewer = stayed.length < entries.length;
    const documents = page.map((entry) => JSON.stringify(this.#rows.read(entry).message));
    const pagination = JSON.stringify({ limit, hasMore: cursor !== null, cursor, ...(hasNewer && { hasNewer }) });
    return `{"messages":[${documents.join(",")}],"pagination":${pagination}}`;
  }

  /**
   * Gives each due message its place, in order, or ends it. Messages that ended long ago are removed. Each send calls
   * this first, so that it takes no room that due messages wait for. Never throws: after a fault, the alarm rings
   * again, and a message that can't be placed for minutes is skipped.
   * @returns whether some were due
   */
  placeDue(): boolean {
    const now = this.#parts.clock.now();
    const identity = this.#parts.adoption.identity();
    if (!identity) return false;
    let due: ScheduledEntry[] = [];
    try {
      if (this.#tries.isForRoom && this.#limit() !== "chat_backlog") this.#tries.goOn();
      if ((this.dueAt(now) ?? Number.POSITIVE_INFINITY) > now) return false;
      this.ended.purge((endedAt) => purgeAt(endedAt) > now, PURGE_SIZE);
      due = this.#rows.entries().filter((entry) => isDue(this.#tries.nextAt(entry, now), now));
      if (due.sort(bySoonest).every((entry) => this.#tryToPlace(identity, entry, now))) this.#tries.goOn();
    } catch (error) {
      this.#interrupted(identity, error, now);
    }
    return due.length > 0;
  }

  run(): void {
    if (this.placeDue()) this.#parts.report.putOff();
  }

  /** @returns whether the next message may follow */
  #tryToPlace(identity: ChatIdentity, entry: ScheduledEntry, now: number, isRepeat = false): boolean {
    try {
      const isNext = this.#placeOne(identity, entry, now);
      this.#tries.succeeded(entry);
      return isNext;
    } catch (error) {
      this.#interrupted(identity, error, now, entry.id);
      if (this.#tries.mustHold(entry, now)) return false;
      this.#tries.goOn();
      if (!isRepeat) return this.#tryToPlace(identity, entry, now, true);
      this.#tries.tryAlone(entry, now);
      return true;
    }
  }

  /** @param messageId the message that can't be placed; absent for another fault */
  #interrupted({ chatId }: ChatIdentity, error: unknown, now: number, messageId?: string): void {
    this.#forgetRows();
    this.#tries.restAfterFault(now);
    this.#parts.logger.error({ event: "scheduled_not_placed", chatId, messageId, error: causeOf(error) });
  }

  /**
   * Changes when a message is sent. It takes its place at once if its new time is now or in the past. A due message that
   * waits keeps its turn if only its expiry changes.
   * @returns `not_scheduled` if no scheduled message has this id
   */
  move(id: string, change: MoveBody): Exclude<MoveAnswer, Unknown | { outcome: "no_message" }> {
    this.placeDue();
    const now = this.#parts.clock.now();
    const identity = this.#parts.adoption.identity();
    const row = this.#rows.byId(id);
    if (!identity || !row) return { outcome: "not_scheduled" };
    const { message } = row;
    const before = { scheduledAt: timeOf(message.scheduledAt), expiresAt: timeOf(message.expiresAt) };
    const times = changedTimes(before, change, now);
    if ("faults" in times) return { outcome: "refused", code: "validation_failed", faults: times.faults };
    const { scheduledAt, expiresAt } = times;
    if (scheduledAt === before.scheduledAt && expiresAt === before.expiresAt) return ok(message);
    const moved = withTimes(message, times, now);
    const isMoved = scheduledAt !== before.scheduledAt;
    if (scheduledAt === null || (isMoved && isDue(scheduledAt, now))) {
      const refusal = this.#parts.conditions.refusalOf(identity, row) ?? this.#limit();
      if (refusal) return { outcome: "refused", code: refusal };
      return { outcome: "ok", doc: this.#place(identity, { ...row, message: moved }) };
    }
    const timedBy = isMoved ? this.#parts.log.events.newest + 1 : null;
    this.#commit([scheduledEvent(moved)], () => this.#rows.move(moved, scheduledAt, timedBy));
    this.#endRestForRoom(now);
    return ok(moved);
  }

  /** Cancels a scheduled message. @returns its JSON, also if it was canceled before; null if it is not scheduled */
  cancel(id: string): string | null {
    const row = this.find(id);
    if (row?.message.status === "CANCELED") return JSON.stringify(row.message);
    if (row?.message.status !== "SCHEDULED") return null;
    const at = this.#parts.clock.now();
    const message = withStatus(row.message, { status: "CANCELED", error: null, at });
    this.#end({ ...row, message, media: null }, [], () => this.#parts.files.giveBack(row.media, id, at));
    return JSON.stringify(message);
  }

  /** People have the chat: the messages that the bot scheduled end. One that can't be ended takes no place later. */
  handedOver(): void {
    const at = this.#parts.clock.now();
    for (const row of this.#rows.ofBot()) this.#endHandedOver(row, at);
  }

  #endHandedOver(row: RowWithoutSeq, at: number): void {
    const error = { code: "handed_over", message: ERRORS.handed_over.text };
    const message = withStatus(row.message, { status: "CANCELED", error, at });
    const giveBack = () => this.#parts.files.giveBack(row.media, message.id, at);
    this.#end({ ...row, message, media: null, redactedBy: null }, [], giveBack);
  }

  /**
   * Blanks a message without a place. A scheduled one is canceled.
   * @param call the name of the request: a repeat after a lost answer has the same name and gets the same answer
   */
  redact(id: string, call: string): Exclude<MessageAnswer, Unknown> {
    const at = this.#parts.clock.now();
    const row = this.find(id);
    if (!row) return { outcome: "no_message" };
    const { redactedBy } = row;
    if (redactedBy !== null) {
      return redactedBy === call || redactedBy === UNANSWERED ? ok(row.message) : { outcome: "no_message" };
    }
    const message = redacted(row.message, at);
    this.#parts.log.redactions++;
    const event: NewEvent = { type: "message.redacted", seq: null, note: { messageId: id }, at };
    const by = isFileMedia(row.media) ? UNANSWERED : call;
    if (row.message.status === "SCHEDULED") {
      const blank = { ...row, message, fingerprint: null, template: null, media: null, redactedBy: by };
      this.#end(blank, [event], () => this.#parts.files.end(row.media, id, at));
    } else {
      this.#commit([event], () => {
        this.#parts.files.end(row.media, id, at);
        this.ended.redact(message, by);
      });
    }
    return ok(message);
  }

  /** The limit that one more message in the chat would exceed; null for none. */
  #limit(): "chat_backlog" | "chat_full" | null {
    return limitReached(this.#parts.log, this.#parts.depth());
  }

  forget(): void {
    this.#forgetRows();
    this.#tries.forget();
  }

  /** @returns whether the next message may follow */
  #placeOne(identity: ChatIdentity, entry: ScheduledEntry, now: number): boolean {
    // A message before it took the chat over from the bot, whose own messages ended.
    if (!this.#rows.has(entry.id)) return true;
    const row = this.#rows.read(entry);
    const expiresAt = timeOf(row.message.expiresAt);
    const unmet = this.#parts.conditions.refusalOf(identity, row);
    const next = dueStep({ dueAt: entry.dueAt, expiresAt }, unmet, this.#limit(), now);
    if (next.step === "wait") {
      this.#tries.restForRoom(now, next.until);
      return false;
    }
    if (unmet === "handed_over") this.#endHandedOver(row, now);
    else if (next.step === "place") this.#place(identity, row);
    else {
      const message = withStatus(row.message, { status: "FAILED", error: next.error, at: now });
      this.#end({ ...row, message, redactedBy: null }, []);
    }
    return true;
  }

  #place(identity: ChatIdentity, row: RowWithoutSeq): string {
    try {
      return this.#parts.store.place(identity, row, () => this.#rows.remove(row.message.id));
    } catch (error) {
      this.#forgetRows();
      throw error;
    }
  }

  /**
   * Moves a message from the scheduled ones to those that ended.
   * @param events after the event of its status
   * @param write what else the commit writes
   */
  #end(row: EndedRow, events: NewEvent[], write?: () => void): void {
    const { id, status, error, updatedAt } = row.message;
    const at = Date.parse(updatedAt);
    const note = { messageId: id, status, ...(error && { code: error.code }) };
    this.#commit([{ type: "message.status", seq: null, note, at }, ...events], () => {
      write?.();
      this.#rows.remove(id);
      this.ended.insert(row, at);
    });
    this.#endRestForRoom(this.#parts.clock.now());
  }

  /** The message that waited for room may have been moved or canceled. Then the next one is on time. */
  #endRestForRoom(now: number): void {
    const dueAt = this.nextDueAt();
    if (this.#tries.isForRoom && (dueAt === null || dueAt > now)) this.#tries.goOn();
  }

  #commit(events: NewEvent[], write: () => void): void {
    try {
      this.#parts.log.commit(events, write);
    } catch (error) {
      this.#forgetRows();
      throw error;
    }
  }

  #forgetRows(): void {
    this.#rows.forget();
    this.ended.forget();
  }
}

function ok(message: MessageWithoutSeq): { outcome: "ok"; doc: string } {
  return { outcome: "ok", doc: JSON.stringify(message) };
}
