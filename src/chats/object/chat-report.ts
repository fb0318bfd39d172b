import { callOrganization } from "../../calls/call-organization.ts";
import type { ChatActivity } from "../../model/chat.ts";
import type { ChatIdentity, ChatRetention } from "../../model/chat-answers.ts";
import { withMembers } from "../../model/conversation-counts.ts";
import { addCounts, type Counts } from "../../model/counts.ts";
import type { ChannelBot, HandoverCounts, WaitForPeople } from "../../model/handover.ts";
import type { Outcome } from "../../model/network.ts";
import type { Mentions } from "../../model/note.ts";
import type { ChatState, CountedName, EventBurst } from "../../model/organization.ts";
import type { PriceCount } from "../../model/received.ts";
import type { SearchTargets } from "../../model/search-index.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { withDeadline } from "../../platform/deadline.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import { WriteBehind } from "../../platform/object/write-behind.ts";
import type { ObjectSubscriptions } from "../../webhooks/subscription/object-subscriptions.ts";
import { type ActivitySources, CurrentActivity } from "./current-activity.ts";
import type { Adoption } from "./identity.ts";
import { REPORT_AFTER_MS, ReportTimes } from "./report-times.ts";

const CALL_TIMEOUT_MS = 30_000;
/** The maximum number of events in a report, because it reads their types. The next report has the others. */
const MAX_EVENTS = 10_000;

interface Parts extends ActivitySources {
  env: Env;
  storage: { kv: SyncKvStorage };
  adoption: Pick<Adoption, "identity" | "exists">;
  subscriptions: ObjectSubscriptions;
  /** See `Notes`. */
  notes: { mentions(): Mentions | undefined };
  /** See `Retention`. */
  retention: { onRetention(retention: ChatRetention | undefined): void };
  /** See `SearchFeed`. */
  indexes: { learn(targets: SearchTargets | undefined): void };
  handover: ActivitySources["handover"] & {
    readonly counts: HandoverCounts;
    learn(bot: ChannelBot | undefined): void;
  };
  alarm: Pick<StandingAlarm, "isBy">;
  /** How many messages wait for their network. */
  depth(): number;
  /** See `nextDueAt`. */
  nextDueAt(): number | null;
}

/**
 * The last report, as it is stored before it is sent. `seq` is that of the newest message. It has the events after
 * `eventsAfter` up to `events`.
 */
interface StoredReport {
  number: number;
  seq: number;
  eventsAfter: number;
  events: number;
  state: ChatState;
}

type Report = StoredReport & { identity: ChatIdentity };

/**
 * A chat's reports of its state to its organization. Each has a number, stored before the call, so that a call that
 * arrives late changes nothing. Attempts and prices that are not reported yet are lost with the instance. `ReportTimes`
 * says when a chat reports.
 */
export class ChatReporter extends WriteBehind<Report> {
  readonly #parts: Parts;
  readonly #activity: CurrentActivity;
  readonly #times = new ReportTimes();
  #counts: Counts<CountedName> = {};
  #stored: StoredReport | null | undefined;
  /** Counts what changed in the state besides the log. */
  #otherChanges = 0;
  /** The count of changes at the last report that this instance made. */
  #changesReported: number | undefined;
  /** The stored report may not have arrived. */
  #mustRepeat = false;
  /** The organization has a report with a higher number, because the chat's storage was restored to an earlier time. */
  #isOutdated = false;
  /** The last event that the organization has; undefined if this instance does not know. */
  #eventsReported: number | undefined;
  /**
   * "next": the next alarm must put off the report. After that alarm: since when the report waits, Unix milliseconds.
   */
  #putOff: "next" | number | undefined;

  constructor(parts: Parts) {
    super();
    this.#parts = parts;
    this.#activity = new CurrentActivity(parts);
  }

  protected get delayMs(): number {
    const now = Date.now();
    return this.#times.delayMs(now, this.#isQuiet(now));
  }

  /**
   * Whether a change is the first after a quiet time. A message that waits for its network does not count: its outcome
   * comes soon, and is part of its report. An alarm that rings in time stays, because setting another one is a write.
   */
  #isQuiet(now: number): boolean {
    if (this.#times.knowsListeners(now)) return false;
    const { alarm, log } = this.#parts;
    return !log.isEmpty && !alarm.isBy(now + REPORT_AFTER_MS) && this.#parts.depth() === 0;
  }

  /** Whether a change goes out now, or right after the report that is under way. */
  get isPrompt(): boolean {
    return this.isWriting || this.#isListened;
  }

  /** Whether a client waits for events and the chat does not rest. */
  get #isListened(): boolean {
    const now = Date.now();
    return this.#times.isListened(now) && this.restsUntil(now) === null;
  }

  protected override restsUntil(now: number): number | null {
    return super.restsUntil(now) ?? this.#times.restsUntil(now);
  }

  protected get retryMs(): number {
    return this.#times.retryMs;
  }

  /** An attempt at delivery is over, or a message has got its price. */
  counted(what: Outcome["outcome"] | PriceCount): void {
    this.#counts = addCounts(this.#counts, { [what]: 1 });
  }

  /** Something changed that is not in the log: the details, or which messages are scheduled. */
  stateChanged(): void {
    this.#otherChanges++;
  }

  /** The organization does not have the state that was reported: the next report repeats it. */
  repeatState(): void {
    this.#mustRepeat = true;
    this.stateChanged();
  }

  /**
   * Reports again unless the organization has what the chat last reported, and that still holds.
   * @param number of the report that the organization has
   * @param nextDueAt what it has of it; an object that runs an earlier version does not store this
   * @returns whether the next report is due
   */
  repeatUnless(number: number, nextDueAt: number | null): boolean {
    const stored = this.#lastReport();
    const hasLast = number === stored?.number && nextDueAt === (stored.state.nextDueAt ?? null);
    if (hasLast && this.#isStateReported()) return false;
    // A report with the number that it has would change nothing.
    this.#isOutdated ||= number === stored?.number;
    this.repeatState();
    return true;
  }

  /** The contact waits for no answer: only messages from now on count. It holds once it is reported. */
  answered(): void {
    this.#activity.answered(this.#lastReport());
    this.stateChanged();
  }

  /** See `CurrentActivity.handedOver`. It holds once it is reported. */
  handedOver(wait: WaitForPeople): void {
    this.#activity.handedOver(this.#lastReport(), wait);
    this.stateChanged();
  }

  /** See `CurrentActivity.unanswered`. It holds once it is reported. @returns false if the contact waits for nothing */
  unanswered(): boolean {
    const isWaiting = this.#activity.unanswered(this.#lastReport());
    if (isWaiting) this.stateChanged();
    return isWaiting;
  }

  /** When the contact last wrote, Unix milliseconds; null if it never did. */
  contactWroteAt(): number | null {
    return this.#activity.news(this.#lastReport()).contactWroteAt;
  }

  /** Since when the contact waits for an answer, Unix milliseconds; null if it does not. */
  unansweredSince(): number | null {
    return this.#activity.news(this.#lastReport()).unansweredSince;
  }

  /** The seq up to which messages are counted in the last report. */
  get countedUpTo(): number {
    return this.#lastReport()?.seq ?? 0;
  }

  activity(): ChatActivity {
    return this.#activity.read(this.#lastReport());
  }

  /** The alarm rang: reports what changed, or what an instance before this one may not have reported. */
  override async run(): Promise<number | null> {
    if (this.#putOff === "next") {
      this.#putOff = Date.now();
      return null;
    }
    this.#repeatAsNewInstance();
    return this.flush();
  }

  /**
   * Messages took their places in this alarm, and their delivery comes first: many chats may have some that are due at
   * the same time. The report follows as after any other change, and is put off only once.
   */
  putOff(): void {
    this.#putOff ??= "next";
  }

  override flush(isAsked = false): Promise<number | null> {
    if (!this.isWriting && this.#putOff !== "next") this.#putOff = undefined;
    return super.flush(isAsked);
  }

  /**
   * Reports until nothing is left to report, or the chat must rest. @returns when to continue; null if nothing is left
   */
  async reportAll(): Promise<number | null> {
    let next = await this.flush();
    while (next !== null && this.#isListened) next = await this.flush();
    return next;
  }

  /** Reports even if nothing changed, because the answer has what the organization's object says to its chats. */
  async repeat(): Promise<void> {
    this.#mustRepeat = true;
    // A flush that was under way may have found nothing to report.
    for (let tries = 0; tries < 2 && this.#mustRepeat; tries++) await this.flush();
  }

  /**
   * Reports until the organization knows what changed before this call.
   * @param isAsked a client waits for it
   * @returns false if the organization does not answer
   */
  async settle(isAsked: boolean): Promise<boolean> {
    this.#repeatAsNewInstance();
    const changes = this.#changes;
    // Later changes don't count: a busy chat always has one.
    const isReported = () => (this.#changesReported ?? -1) >= changes || this.#isStateReported();
    // A report that was under way may not have the last change.
    for (let tries = 0; tries < 2 && !isReported(); tries++) await this.flush(isAsked);
    return isReported();
  }

  override forget(): void {
    super.forget();
    this.#counts = {};
    this.#stored = undefined;
    this.#changesReported = undefined;
    this.#mustRepeat = false;
    this.#isOutdated = false;
    this.#eventsReported = undefined;
    this.#times.forget();
    this.#putOff = undefined;
    this.#activity.forget();
  }

  /** When to flush; null if nothing is pending. It is asked after each attempt, so it does not read the whole state. */
  override dueAt(): number | null {
    const hasIdentity = this.#parts.adoption.identity() !== undefined;
    if (typeof this.#putOff === "number") return hasIdentity ? this.#dueAfterWait(this.#putOff) : null;
    if (this.#changesReported === undefined) return super.dueAt();
    return hasIdentity && this.#mayHaveChanged() ? this.changed() : null;
  }

  /** A report that was put off has a fixed time: asking for it again does not put it off further. */
  #dueAfterWait(since: number): number {
    const now = Date.now();
    return this.restsUntil(now) ?? Math.min(now, Math.max(since, now - this.delayMs)) + this.delayMs;
  }

  protected current(): Report | null {
    const identity = this.#parts.adoption.identity();
    if (!identity) return null;
    if (!this.#mayHaveChanged()) return null;
    const stored = this.#lastReport();
    const { seq } = this.#parts.log.newest();
    const state = this.#state(stored);
    const eventsAfter = this.#eventsReported ?? stored?.eventsAfter ?? 0;
    const events = Math.min(this.#parts.log.events.newest, eventsAfter + MAX_EVENTS);
    const isSame = stored !== null && stored.events === events && isSameState(stored.state, state);
    if (isSame && !this.#mustRepeat) {
      // The changes do not show in a report, and the organization has the last one.
      if (this.#changesReported !== undefined) this.#changesReported = this.#changes;
      return null;
    }
    const number = isSame && !this.#isOutdated ? stored.number : (stored?.number ?? 0) + 1;
    return { identity, number, seq, eventsAfter, events, state };
  }

  protected async write({ identity, ...report }: Report): Promise<void> {
    this.#times.begun();
    this.#mustRepeat = true;
    const changes = this.#changes;
    this.#begin(report);
    const { chatId, organizationId, life } = identity;
    const { number } = report;
    const { handover, subscriptions, retention, indexes } = this.#parts;
    const fields = { number, events: this.#burst(report), webhooks: subscriptions.all.version, ...report.state };
    // A report that never ends would hold up all later ones.
    const answer = await withDeadline(SYSTEM_CLOCK, CALL_TIMEOUT_MS, () =>
      callOrganization(this.#parts.env, organizationId, (organization) =>
        organization.report({ chatId, life, ...fields }),
      ),
    );
    this.#times.answered();
    if (!this.#parts.adoption.exists(life)) return;
    if (answer.outcome === "ok") {
      this.#times.heard(answer.listeningForMs);
      if (answer.webhooks) subscriptions.configure(answer.webhooks, answer.webhooks.startAfter);
      retention.onRetention(answer.retention);
      indexes.learn(answer.search);
      handover.learn(answer.bot);
      this.#times.rest(answer.nextAfterMs, answer.restMs ?? 0);
      this.#isOutdated = answer.number > report.number;
      if (this.#isOutdated) return this.#store({ ...report, number: answer.number });
    }
    this.#mustRepeat = false;
    this.#eventsReported = report.events;
    this.#changesReported = changes;
  }

  /** `current` compares with what is stored. */
  protected override written(): void {}

  protected failure({ identity }: Report) {
    return { event: "chat_not_reported", chatId: identity.chatId };
  }

  /** Whether the organization has the chat's state, even if it lacks events. */
  #isStateReported(): boolean {
    const stored = this.#lastReport();
    return !this.#mustRepeat && stored !== null && isSameState(stored.state, this.#state(stored));
  }

  /** False if the organization has the chat's state and its events. */
  #mayHaveChanged(): boolean {
    const { log } = this.#parts;
    if (this.#mustRepeat || this.#changesReported !== this.#changes) return true;
    if (this.#eventsReported !== log.events.newest) return true;
    return Object.keys(this.#counts).length > 0;
  }

  get #changes(): number {
    return this.#parts.log.changes + this.#otherChanges;
  }

  /** An instance does not know whether the report that an earlier one stored has arrived. */
  #repeatAsNewInstance(): void {
    this.#mustRepeat ||= this.#changesReported === undefined;
  }

  #burst({ eventsAfter, events: last }: StoredReport): EventBurst | null {
    const first = eventsAfter + 1;
    return first > last ? null : { first, last, types: this.#parts.log.events.types(first, last) };
  }

  #lastReport(): StoredReport | null {
    this.#stored ??= this.#parts.storage.kv.get<StoredReport>("reported") ?? null;
    return this.#stored;
  }

  /** Stores a report before it is sent. */
  #begin(report: StoredReport): void {
    if (this.#stored?.number === report.number) return;
    // The stored state has these counts. What is counted during the call is for the next report.
    this.#counts = {};
    this.#activity.reported();
    this.#store(report);
  }

  #store(report: StoredReport): void {
    this.#stored = report;
    this.#parts.storage.kv.put("reported", report);
  }

  #state(stored: StoredReport | null): ChatState {
    const depth = this.#parts.depth();
    const oldest = depth > 0 ? this.#parts.log.queue.head()?.message.createdAt : undefined;
    const activity = this.#activity.read(stored);
    const { counts, members, isUncounted, askedAt } = this.#activity.news(stored);
    const before = stored?.state.members ?? {};
    const nextDueAt = this.#parts.nextDueAt();
    const mentions = this.#parts.notes.mentions();
    const { handover } = this.#parts;
    const { count: handovers } = handover;
    const hasMembers = Object.keys(before).length + Object.keys(members).length > 0;
    return {
      ...activity,
      depth,
      oldest: oldest === undefined ? null : Date.parse(oldest),
      // The handovers are stored with each of them, so that none is lost and none counts twice.
      attempts: {
        ...addCounts(addCounts(stored?.state.attempts ?? {}, this.#counts), counts),
        ...(handovers > 0 && handover.counts),
      },
      ...(isUncounted && { isUncounted }),
      ...(askedAt !== null && { askedAt }),
      ...(handovers > 0 && { handovers }),
      ...(nextDueAt !== null && { nextDueAt }),
      ...(mentions && { mentions }),
      ...(hasMembers && { members: withMembers(before, members) }),
    };
  }
}

function isSameState(one: ChatState, other: ChatState): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
