import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { earliest, StandingAlarm } from "../../platform/object/alarm.ts";
import { DueWork } from "../../platform/object/due-work.ts";
import { ObjectSubscriptions } from "../../webhooks/subscription/object-subscriptions.ts";
import { Acts } from "./acts.ts";
import { AlarmCheck } from "./alarm-check.ts";
import { AwayAnswers } from "./away.ts";
import { CancelAndResend } from "./cancel-and-resend.ts";
import { ChatLabels } from "./chat-labels.ts";
import { ChatReporter } from "./chat-report.ts";
import { ChatWork } from "./chat-work.ts";
import { Consent } from "./consent.ts";
import { ContactAddresses } from "./contact-addresses.ts";
import { NetworkChat } from "./delivery/network-chat.ts";
import { DeliveryQueue } from "./delivery/queue.ts";
import { Echoes } from "./echoes.ts";
import { EditsAndReactions } from "./edits-and-reactions.ts";
import { Erasure } from "./erasure.ts";
import { ChatFiles } from "./files/chat-files.ts";
import { HandOver } from "./hand-over.ts";
import { Handover } from "./handover.ts";
import { Adoption } from "./identity.ts";
import { ChatTables } from "./log/chat-tables.ts";
import { FilteredPages } from "./log/filtered-pages.ts";
import { MessageLog } from "./log/message-log.ts";
import { MessagePages } from "./log/pages.ts";
import { nextDueAt } from "./next-due.ts";
import { Notes } from "./notes.ts";
import { Redactions } from "./redactions.ts";
import { ChatEvents } from "./rendered-events.ts";
import { Retention } from "./retention/retention.ts";
import { ScheduledMessages } from "./scheduled/scheduled-messages.ts";
import { FedIndexes } from "./search/fed-indexes.ts";
import { IndexedMessages } from "./search/indexed-messages.ts";
import { SearchCorrections } from "./search/search-corrections.ts";
import { SearchFeed } from "./search/search-feed.ts";
import { SendConditions } from "./send-conditions.ts";
import { MessageStore } from "./store-messages.ts";
import { StoredDetails } from "./stored-details.ts";
import { Typing } from "./typing.ts";
import type { InputParts } from "./visitors/visitor-input.ts";
import { VisitorSockets } from "./visitors/visitor-sockets.ts";
import { subscriptionHost } from "./webhook-subscriptions.ts";

/** How long a part rests after a failure. */
const REST_MS = 30_000;

/** The parts of a chat's object. Each takes those that it uses, and may call them once all are made. */
export class ChatParts {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  readonly storage: DurableObjectStorage;
  readonly receive: InputParts["receive"];
  readonly clock = SYSTEM_CLOCK;
  readonly logger = console;
  readonly tables: ChatTables;
  readonly log: MessageLog;
  readonly pages: MessagePages;
  readonly filteredPages: FilteredPages;
  readonly adoption: Adoption;
  readonly alarm: StandingAlarm;
  readonly contact: ContactAddresses;
  readonly events: ChatEvents;
  /** They deliver the chat's events to webhooks, beside the delivery of messages and the report. */
  readonly subscriptions: ObjectSubscriptions;
  readonly report: ChatReporter;
  readonly queue: DeliveryQueue;
  readonly visitors: VisitorSockets;
  readonly consent: Consent;
  readonly work: ChatWork;
  readonly handover: Handover;
  readonly handOver: HandOver;
  readonly labels: ChatLabels;
  readonly away: AwayAnswers;
  readonly conditions: SendConditions;
  readonly scheduled: ScheduledMessages;
  readonly files: ChatFiles;
  readonly echoes: Echoes;
  readonly store: MessageStore;
  readonly actions: CancelAndResend;
  readonly redactions: Redactions;
  readonly editsAndReactions: EditsAndReactions;
  readonly acts: Acts;
  readonly typing: Typing;
  readonly details: StoredDetails;
  readonly notes: Notes;
  readonly indexed: IndexedMessages;
  readonly indexes: FedIndexes;
  readonly search: SearchFeed;
  readonly searchCorrections: SearchCorrections;
  readonly retention: Retention;
  readonly erasure: Erasure;
  /** What the object does in its alarms, and what it forgets. */
  readonly due: DueWork;
  readonly alarmCheck = new AlarmCheck(this);
  /** The next announcement, until it sets the alarm. */
  #announcement: Promise<void> | undefined;

  /** @param receive stores a message that a visitor wrote */
  constructor(ctx: DurableObjectState, env: Env, receive: InputParts["receive"]) {
    this.ctx = ctx;
    this.env = env;
    this.storage = ctx.storage;
    this.receive = receive;
    const { storage } = ctx;
    const waitUntil = (work: Promise<void>) => ctx.waitUntil(work);
    this.tables = new ChatTables(storage);
    this.log = new MessageLog(
      storage,
      this.tables,
      () => this.adoption.identity()?.createdAt ?? 0,
      () => waitUntil(this.announce()),
      (media, messageId, now) => this.files.end(media, messageId, now),
      (seq) => this.searchCorrections.textChanged(seq),
    );
    this.pages = new MessagePages(this.log);
    this.filteredPages = new FilteredPages(this.tables, this.log);
    this.adoption = new Adoption(
      storage,
      this.tables,
      ({ createdAt, isLean }, tombstone) => {
        if (!isLean) this.log.events.begin(createdAt);
        waitUntil(this.announce());
        if (tombstone?.filesOf !== undefined) this.files.follow(tombstone.life, tombstone.until);
      },
      () => this.alarmCheck.onCall(),
    );
    this.files = new ChatFiles(this);
    this.alarm = new StandingAlarm(storage);
    this.contact = new ContactAddresses(this);
    this.events = new ChatEvents(this);
    this.subscriptions = new ObjectSubscriptions(this, () => subscriptionHost(this));
    this.report = new ChatReporter(this);
    this.queue = new DeliveryQueue(this);
    this.visitors = new VisitorSockets(this);
    this.consent = new Consent(this);
    this.work = new ChatWork(this);
    this.handover = new Handover(this);
    this.labels = new ChatLabels(this);
    this.away = new AwayAnswers(this);
    this.conditions = new SendConditions(this);
    this.scheduled = new ScheduledMessages(this);
    this.echoes = new Echoes(this);
    this.store = new MessageStore(this);
    this.actions = new CancelAndResend(this);
    this.redactions = new Redactions(this);
    this.typing = new Typing(this);
    this.acts = new Acts(this);
    this.editsAndReactions = new EditsAndReactions(this);
    this.details = new StoredDetails(this);
    this.notes = new Notes(this);
    this.handOver = new HandOver(this);
    this.indexed = new IndexedMessages(this.tables);
    this.indexes = new FedIndexes(this);
    this.search = new SearchFeed(this);
    this.searchCorrections = new SearchCorrections(this);
    this.retention = new Retention(this);
    this.erasure = new Erasure(this);
    const { tables, subscriptions, scheduled, queue, echoes, report, contact, retention, erasure, files, log, notes } =
      this;
    const { work, handover, indexes, search, searchCorrections } = this;
    this.due = new DueWork(
      {
        name: "chat",
        id: () => this.adoption.identity()?.chatId,
        alarm: this.alarm,
        waitUntil,
        backoff: { firstMs: REST_MS, maxMs: REST_MS },
      },
      // The queue delivers what takes its place now.
      {
        ...{ subscriptions, scheduled, expiry: queue.expiry, queue, work, report, contact, retention, erasure, files },
        ...{ echoes, tables, log, notes, indexes, search, searchCorrections, handover },
      },
    );
  }

  /**
   * Sets the alarm for the report of a change and for scheduled messages, and reports at once if `ChatReporter` says
   * so. The changes of one commit share an announcement.
   * @throws if the alarm can't be set
   */
  announce(): Promise<void> {
    this.#announcement ??= this.#announce();
    return this.#announcement;
  }

  /** The JSON of a message, with or without a place in the chat; null if there is none. */
  messageById(id: string): string | null {
    const placed = this.log.byId(id);
    if (placed) return placed.doc;
    const withoutSeq = this.scheduled.find(id);
    return withoutSeq && JSON.stringify(withoutSeq.message);
  }

  /** The chat as its network delivers it; null if none does. */
  networkChat(): NetworkChat | null {
    const identity = this.adoption.identity();
    if (!identity || identity.channelKind === "web") return null;
    return new NetworkChat(this, identity, identity.channelKind);
  }

  /** How many messages wait for their network. */
  depth(): number {
    // A web message is never queued. Looking for the first queued one would read the whole chat.
    return this.adoption.identity()?.channelKind === "web" ? 0 : this.log.queue.depth();
  }

  /** See the function. */
  nextDueAt(): number | null {
    return nextDueAt(this, this.clock.now());
  }

  async #announce(): Promise<void> {
    try {
      await this.alarm.standing();
    } finally {
      // From here on, a change needs an announcement of its own: the alarm and the subscriptions may not cover it.
      this.#announcement = undefined;
    }
    await this.alarm.by(this.#dueAt(Date.now()));
    this.subscriptions.start();
    if (this.report.isPrompt) this.ctx.waitUntil(this.report.reportAll().then((at) => this.alarm.by(at)));
  }

  /** When the alarm must ring for what a change brought about; null if for nothing. */
  #dueAt(now: number): number | null {
    const { report, scheduled, work, handover, search, searchCorrections } = this;
    const ofWork = [work.dueAt(), handover.dueAt()];
    const ofSearch = [search.dueAt(now), searchCorrections.dueAt(now)];
    return earliest([report.changed(), scheduled.dueAt(now), ...ofWork, ...ofSearch]);
  }
}
