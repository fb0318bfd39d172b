import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { earliest, StandingAlarm } from "../../platform/object/alarm.ts";
import { DueWork } from "../../platform/object/due-work.ts";
import { type ActingChat, Acts } from "./acts.ts";
import { ChatReporter } from "./chat-report.ts";
import { ContactAddresses } from "./contact-addresses.ts";
import { DeliveryLog } from "./delivery/delivery-log.ts";
import { actPort, channelPort, fileStore, networkPort } from "./delivery/ports.ts";
import { type DeliveringChat, DeliveryQueue } from "./delivery/queue.ts";
import { Erasure } from "./erasure.ts";
import { ChatFiles } from "./files/chat-files.ts";
import { Adoption } from "./identity.ts";
import { FilteredPages } from "./log/filtered-pages.ts";
import { limitReached } from "./log/limits.ts";
import { MessageLog } from "./log/message-log.ts";
import { MessagePages } from "./log/pages.ts";
import { MessageActions } from "./message-actions.ts";
import { MessageChanges } from "./message-changes.ts";
import { Notes } from "./notes.ts";
import { Redactions } from "./redactions.ts";
import { ChatEvents } from "./rendered-events.ts";
import { Retention } from "./retention/retention.ts";
import { ScheduledMessages } from "./scheduled/scheduled-messages.ts";
import { MessageStore } from "./store-messages.ts";
import { StoredDetails } from "./stored-details.ts";
import { Typing } from "./typing.ts";
import { VisitorSockets } from "./visitors/visitor-sockets.ts";
import { EventLines } from "./webhook-lines.ts";

/** How long a part rests after a failure. */
const REST_MS = 30_000;

/** The parts of a chat's object, each connected to those that it needs. */
export class ChatParts {
  readonly log: MessageLog;
  readonly deliveries: DeliveryLog;
  readonly pages: MessagePages;
  readonly filteredPages: FilteredPages;
  readonly adoption: Adoption;
  readonly alarm: StandingAlarm;
  readonly contact: ContactAddresses;
  readonly events: ChatEvents;
  readonly lines: EventLines;
  readonly report: ChatReporter;
  readonly queue: DeliveryQueue;
  readonly visitors: VisitorSockets;
  readonly scheduled: ScheduledMessages;
  readonly files: ChatFiles;
  readonly store: MessageStore;
  readonly actions: MessageActions;
  readonly redactions: Redactions;
  readonly messageChanges: MessageChanges;
  readonly acts: Acts;
  readonly typing: Typing;
  readonly details: StoredDetails;
  readonly notes: Notes;
  readonly retention: Retention;
  readonly erasure: Erasure;
  /** What the object does in its alarms, and what it forgets. */
  readonly due: DueWork;
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  /** The next announcement, until it sets the alarm. */
  #announcement: Promise<void> | undefined;

  /** @param receive stores a message that a visitor wrote */
  constructor(ctx: DurableObjectState, env: Env, receive: ConstructorParameters<typeof VisitorSockets>[0]["receive"]) {
    this.#ctx = ctx;
    this.#env = env;
    const { storage } = ctx;
    const waitUntil = (work: Promise<void>) => ctx.waitUntil(work);
    this.log = new MessageLog(
      storage,
      () => waitUntil(this.announce()),
      (media, messageId, now) => this.files.end(media, messageId, now),
    );
    this.deliveries = new DeliveryLog(this.log);
    this.pages = new MessagePages(this.log);
    this.filteredPages = new FilteredPages(storage.sql, this.log);
    this.adoption = new Adoption(
      storage,
      () => this.log.prepare(),
      ({ createdAt }, tombstone) => {
        this.log.events.append({ type: "chat.created", seq: null, note: null, at: createdAt });
        if (tombstone?.filesOf !== undefined) this.files.follow(tombstone.life, tombstone.until);
      },
    );
    this.files = new ChatFiles({
      env,
      storage,
      adoption: this.adoption,
      log: this.log,
      isUsed: (fileId) => this.log.showsFile(fileId) || this.scheduled.showsFile(fileId),
      hadMessages: () => this.log.newest().seq > 0 || this.scheduled.dueAt(Date.now()) !== null,
      deleteChat: (identity) => this.erasure.deleteChat(identity),
    });
    this.alarm = new StandingAlarm(storage);
    this.contact = new ContactAddresses({
      env,
      kv: storage.kv,
      log: this.log,
      adoption: this.adoption,
      save: () => this.due.start(this.contact),
    });
    this.events = new ChatEvents(env, this.log, {
      address: (identity) => this.contact.current(identity),
      messageById: (id) => this.messageById(id),
      activity: ({ life }) => (this.adoption.exists(life) ? this.report.activity() : null),
    });
    this.lines = new EventLines({
      env,
      kv: storage.kv,
      log: this.log,
      events: this.events,
      alarm: this.alarm,
      adoption: this.adoption,
      waitUntil,
    });
    this.report = new ChatReporter({
      kv: storage.kv,
      env,
      log: this.log,
      webhooks: this.lines,
      adoption: this.adoption,
      depth: () => this.depth(),
      nextDueAt: () => this.scheduled.nextDueAt(),
      readUpTo: () => this.acts.readUpTo(),
      assigneeId: () => this.details.assigneeId(),
      assignees: () => this.details.assignees(),
      details: () => this.details.details(),
      onRetention: (retention) => this.retention.onRetention(retention),
    });
    this.queue = new DeliveryQueue({
      log: this.deliveries,
      alarm: this.alarm,
      due: () => this.due,
      clock: SYSTEM_CLOCK,
      logger: console,
      chat: () => this.delivering(),
      waitUntil,
    });
    this.visitors = new VisitorSockets({
      typing: () => this.typing.byContact(),
      state: ctx,
      env,
      log: this.log,
      adoption: this.adoption,
      isRepeated: (dedupe) => this.store.hasInbound(dedupe),
      receive,
      readUpTo: () => this.acts.readUpTo(),
      react: (seq, emoji, at) => this.messageChanges.visitorReacted(seq, emoji, at),
      fillDetails: (identity, contact) => this.details.fill(identity, contact),
    });
    this.scheduled = new ScheduledMessages({
      storage,
      files: this.files,
      log: this.log,
      clock: SYSTEM_CLOCK,
      logger: console,
      adoption: this.adoption,
      limit: () => limitReached(this.log, this.depth()),
      place: (identity, row, remove) => this.store.place(identity, row, remove),
      placed: () => this.report.putOff(),
    });
    this.store = new MessageStore({
      log: this.log,
      queue: this.queue,
      scheduled: this.scheduled,
      depth: () => this.depth(),
      visitors: this.visitors,
      files: this.files,
      report: this.report,
    });
    this.actions = new MessageActions({
      log: this.log,
      deliveries: this.deliveries,
      queue: this.queue,
      scheduled: this.scheduled,
      store: this.store,
    });
    this.redactions = new Redactions({
      kv: storage.kv,
      log: this.log,
      deliveries: this.deliveries,
      queue: this.queue,
      report: this.report,
      lines: this.lines,
      scheduled: this.scheduled,
      alarm: this.alarm,
      visitors: this.visitors,
      files: this.files,
    });
    this.typing = new Typing({
      env,
      adoption: this.adoption,
      address: (identity) => this.contact.current(identity),
      contactName: () => this.details.details()?.name ?? null,
      waitUntil,
    });
    this.acts = new Acts({
      kv: storage.kv,
      log: this.log,
      clock: SYSTEM_CLOCK,
      scheduled: this.scheduled,
      changes: { setReaction: (seq, emoji, at) => this.messageChanges.setReaction(seq, emoji, at) },
      visitors: this.visitors,
      report: this.report,
      exists: () => this.adoption.identity() !== undefined,
      typing: this.typing,
      chat: () => this.#acting(),
    });
    this.messageChanges = new MessageChanges({ log: this.log, redactions: this.redactions, visitors: this.visitors });
    this.details = new StoredDetails({
      env,
      storage,
      log: this.log,
      adoption: this.adoption,
      report: this.report,
      alarm: this.alarm,
    });
    this.notes = new Notes(storage.sql, this.log);
    this.retention = new Retention({
      kv: storage.kv,
      log: this.log,
      notes: this.notes,
      adoption: this.adoption,
      ended: this.scheduled.ended,
      ask: () => this.report.repeat(),
      report: () => this.report.settle(false),
      beforeDeletion: () => this.lines.forgetResponses(),
      isReported: () => this.report.dueAt() === null && !this.contact.hasPending,
      isIdle: (now) =>
        !this.visitors.isOnline &&
        earliest([this.lines.dueAt(now), this.scheduled.dueAt(now), this.files.dueAt(now)]) === null,
      deleteChat: (identity) => this.erasure.deleteChat(identity),
    });
    this.erasure = new Erasure({
      env,
      storage,
      adoption: this.adoption,
      alarm: this.alarm,
      closeSockets: () => this.visitors.closeAll(),
      hasFiles: () => this.files.hasAny,
      tellWebhooks: () => this.lines.ownerDeleted(),
      forget: () => this.due.forget(),
    });
    const { lines, scheduled, queue, report, contact, retention, erasure, files, log, notes } = this;
    this.due = new DueWork(
      {
        name: "chat",
        id: () => this.adoption.identity()?.chatId,
        alarm: this.alarm,
        waitUntil,
        backoff: { firstMs: REST_MS, maxMs: REST_MS },
      },
      // The queue delivers what takes its place now.
      { lines, scheduled, expiry: queue.expiry, queue, report, contact, retention, erasure, files, log, notes },
    );
  }

  /**
   * Sets the alarm for the report of a change and for scheduled messages, and reports at once if `ChatReporter` says so.
   * The changes of one commit share an announcement.
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
    const unplaced = this.scheduled.find(id);
    return unplaced && JSON.stringify(unplaced.message);
  }

  /** The chat as delivery needs it; null if no network delivers its messages. */
  delivering(): DeliveringChat | null {
    const identity = this.adoption.identity();
    if (!identity || identity.channelKind === "web") return null;
    return {
      identity,
      channel: channelPort(this.#env, identity.channelId),
      network: networkPort(this.#env, identity.channelKind),
      files: fileStore(this.#env, identity),
      exists: () => this.adoption.exists(identity.life),
      address: () => this.contact.current(identity),
      learn: (addresses, moved) => this.contact.learn(addresses, moved),
      attempted: ({ outcome }) => this.report.counted(outcome),
    };
  }

  /** The chat as acts need it; null if no network delivers its messages. */
  #acting(): ActingChat | null {
    const chat = this.delivering();
    const identity = this.adoption.identity();
    if (!chat || !identity || identity.channelKind === "web") return null;
    return { ...chat, acts: actPort(this.#env, identity.channelKind), logger: console };
  }

  /** How many messages wait for their network. */
  depth(): number {
    // A web message is never queued. Looking for the first queued one would read the whole chat.
    return this.adoption.identity()?.channelKind === "web" ? 0 : this.log.queue.depth();
  }

  async #announce(): Promise<void> {
    try {
      await this.alarm.standing();
    } finally {
      // From here on, a change needs an announcement of its own: the alarm and the lines may not cover it.
      this.#announcement = undefined;
    }
    await this.alarm.by(earliest([this.report.changed(), this.scheduled.dueAt(Date.now())]));
    this.lines.start();
    if (this.report.isPrompt) this.#ctx.waitUntil(this.report.tell().then((at) => this.alarm.by(at)));
  }
}
