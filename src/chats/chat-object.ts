import { DurableObject } from "cloudflare:workers";
import type { ListPosition } from "../http/pagination.ts";
import { StandingAlarm } from "../platform/alarm.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import type { EventRange } from "../webhooks/rpc.ts";
import { ChatEvents } from "./chat-events.ts";
import { ChatReporter } from "./chat-report.ts";
import { ContactAddresses } from "./contact-addresses.ts";
import { DeliveryLog } from "./delivery/delivery-log.ts";
import { channelPort, networkPort } from "./delivery/ports.ts";
import { type DeliveringChat, DeliveryQueue, stateOf } from "./delivery/queue.ts";
import { EventLines } from "./event-lines.ts";
import { Adoption, type ChatIdentity } from "./identity.ts";
import { MessageLog } from "./log/message-log.ts";
import { MessagePages } from "./log/pages.ts";
import { Redactions } from "./redactions.ts";
import type * as rpc from "./rpc.ts";
import { MessageStore } from "./store-messages.ts";
import { VisitorSockets } from "./visitors/visitor-sockets.ts";

const UNKNOWN: rpc.Unknown = { outcome: "unknown" };
const AGAIN_AFTER_MS = 30_000;
const TOMBSTONE_MS = 600_000;

/**
 * One chat: its messages in order, and their delivery. An answer leaves only after its writes are on disk, and message
 * numbers have no gap.
 *
 * An object initially knows only its id. The organization's object gives a chat's identity to a caller, who passes it on,
 * and the object adopts it. Before that, and to other organizations always, it answers `unknown` and writes nothing.
 */
export class ChatObject extends DurableObject<Env> {
  readonly #log = new MessageLog(this.ctx.storage, () => this.ctx.waitUntil(this.#announce()));
  readonly #deliveries = new DeliveryLog(this.#log);
  readonly #pages = new MessagePages(this.#log);
  readonly #adoption = new Adoption(
    this.ctx.storage,
    () => this.#log.prepare(),
    ({ createdAt }) => this.#log.events.append({ type: "chat.created", seq: null, note: null, at: createdAt }),
  );
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  readonly #contact = new ContactAddresses({
    env: this.env,
    kv: this.ctx.storage.kv,
    log: this.#log,
    adoption: this.#adoption,
    waitUntil: (work) => this.ctx.waitUntil(work),
  });
  readonly #events = new ChatEvents(this.env, this.#log, (identity) => this.#contact.current(identity));
  readonly #lines = new EventLines({
    env: this.env,
    kv: this.ctx.storage.kv,
    log: this.#log,
    events: this.#events,
    alarm: this.#alarm,
    identity: () => this.#adoption.identity(),
    waitUntil: (work) => this.ctx.waitUntil(work),
  });
  readonly #report = new ChatReporter({
    kv: this.ctx.storage.kv,
    env: this.env,
    log: this.#log,
    webhooks: this.#lines,
    identity: () => this.#adoption.identity(),
    depth: () => this.#depth(),
  });
  readonly #queue = new DeliveryQueue({
    log: this.#deliveries,
    alarm: this.#alarm,
    clock: SYSTEM_CLOCK,
    logger: console,
    chat: () => this.#delivering(),
    exists: () => this.#adoption.identity() !== undefined,
    otherWorkAt: (now) => this.#otherWorkAt(now),
    waitUntil: (work) => this.ctx.waitUntil(work),
  });
  readonly #visitors = new VisitorSockets({
    state: this.ctx,
    env: this.env,
    log: this.#log,
    identity: () => this.#adoption.identity(),
    isRepeated: (dedupe) => this.#store.hasInbound(dedupe),
    receive: (organizationId, draft, knownIdentity) => this.receive(organizationId, draft, knownIdentity),
  });
  readonly #store = new MessageStore({
    log: this.#log,
    queue: this.#queue,
    depth: () => this.#depth(),
    show: (message) => this.#visitors.show(message),
  });
  readonly #redactions = new Redactions({
    kv: this.ctx.storage.kv,
    log: this.#log,
    deliveries: this.#deliveries,
    queue: this.#queue,
    report: this.#report,
    lines: this.#lines,
    alarm: this.#alarm,
    show: (message) => this.#visitors.show(message),
  });

  /** Accepts a visitor's socket. Only our Worker calls this, and it has verified what the headers say. */
  override fetch(request: Request): Response {
    return this.#visitors.accept(request);
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    // What needs the alarm asks for it again, and tells the visitor if that fails.
    await this.#alarm.standing().catch(() => null);
    return this.#visitors.onMessage(socket, data);
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#visitors.onClose(socket, code);
  }

  /** Returns a page of messages. @param cachedVersion the version of this page that the caller has cached */
  list(
    organizationId: string,
    position: ListPosition,
    knownIdentity: ChatIdentity | null,
    cachedVersion?: string,
  ): rpc.ListAnswer | rpc.Unknown {
    if (!this.#adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    return this.#pages.read(this.#log.newest().seq, position, cachedVersion);
  }

  get(organizationId: string, messageId: string, knownIdentity: ChatIdentity | null): rpc.MessageAnswer {
    if (!this.#adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    const row = this.#log.byId(messageId);
    return row ? { outcome: "ok", doc: row.doc } : { outcome: "no_message" };
  }

  /**
   * Stores messages for delivery, in one commit.
   * @param isRepeat an earlier call with these drafts failed, and may have stored them
   * @returns an answer for each draft, in the drafts' order
   */
  async send(
    organizationId: string,
    drafts: rpc.Draft[],
    knownIdentity: ChatIdentity | null,
    isRepeat = false,
  ): Promise<rpc.SendAnswer[] | rpc.Unknown> {
    // Nothing is awaited between this read and the last write, so the messages and the alarm are one commit.
    await this.#alarm.standing();
    const identity = this.#adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    const answers = drafts.map((draft) => this.#store.outbound(identity, draft, isRepeat));
    if (answers.every(({ outcome }) => outcome === "refused")) return answers;
    // Even if nothing is new: the first call may have stored the messages and lost the alarm.
    if (identity.channelKind !== "web") this.#queue.start();
    await this.#announce();
    return answers;
  }

  /** Adopts the chat, so that it answers to its organization. Repeating the call changes nothing. */
  async adopt(identity: ChatIdentity): Promise<void> {
    await this.#alarm.standing();
    if (this.#adoption.identify(identity.organizationId, identity)) await this.#announce();
  }

  /** The organization that the chat belongs to, or belonged to lately; null if the object holds nothing. */
  owner(): { organizationId: string } | null {
    const owner = this.#adoption.identity() ?? this.#adoption.tombstone();
    return owner ? { organizationId: owner.organizationId } : null;
  }

  /** Stores a message from the contact. A message that the network repeats is stored once. */
  async receive(
    organizationId: string,
    draft: rpc.InboundDraft,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ReceiveAnswer> {
    await this.#alarm.standing();
    const identity = this.#adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    this.#contact.learn(draft.addresses, false);
    const answer = this.#store.inbound(identity, draft);
    // The first call may have stored the message and lost the alarm.
    if (answer.outcome === "repeated") await this.#alarm.by(this.#otherWorkAt(Date.now()));
    if (answer.outcome === "stored") await this.#announce();
    return answer;
  }

  /** Applies a status from the network. It may arrive before the answer to the send, twice, or late. */
  async applyStatus(
    organizationId: string,
    channelId: string,
    news: rpc.StatusNews,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ApplyStatusAnswer> {
    await this.#alarm.standing();
    const identity = this.#adoption.identify(organizationId, knownIdentity);
    if (identity?.channelId !== channelId) return UNKNOWN;
    return this.#queue.applyStatus(news) ? { outcome: "ok" } : { outcome: "no_message" };
  }

  /** Replaces the address that messages are sent to. */
  async changeAddress(
    organizationId: string,
    address: string,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ApplyStatusAnswer> {
    await this.#alarm.standing();
    if (!this.#adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    this.#contact.learn([address], true);
    await this.#announce();
    return { outcome: "ok" };
  }

  /** Returns what is needed to fetch the media of an inbound message from its network. */
  media(organizationId: string, messageId: string, knownIdentity: ChatIdentity | null): rpc.MediaPointer {
    const identity = this.#adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    if (!this.#log.byId(messageId)) return { outcome: "no_message" };
    const media = this.#log.mediaOf(messageId);
    return media ? { outcome: "ok", channelId: identity.channelId, media } : { outcome: "no_media" };
  }

  /** Reads events; see `ChatEvents.read`. */
  async events(
    organizationId: string,
    range: rpc.EventsAsked,
    types: string[] | null,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ReadEventsAnswer> {
    const identity = this.#adoption.identify(organizationId, knownIdentity);
    return identity ? this.#events.read(identity, range, types, () => this.#adoption.exists(identity.life)) : UNKNOWN;
  }

  /** A webhook can be called again; see `Lines.wake`. */
  wakeWebhook(webhookId: string, number: number): Promise<number> {
    return this.#lines.wake(webhookId, number);
  }

  /** Describes what the chat sends to a webhook. */
  webhookLine(organizationId: string, webhookId: string, knownIdentity: ChatIdentity | null): rpc.WebhookLineAnswer {
    if (!this.#adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    return this.#lines.describe(webhookId);
  }

  /** Gives up the first event that waits for a webhook. */
  async skipEvent(
    organizationId: string,
    webhookId: string,
    eventId: string,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.SkipEventAnswer> {
    const identity = this.#adoption.identify(organizationId, knownIdentity);
    return identity ? this.#lines.skip(identity, webhookId, eventId) : UNKNOWN;
  }

  /** Sends events to a webhook again; see `Lines.replay`. */
  replayEvents(webhookId: string, replayId: string, ranges: EventRange[]): Promise<number> {
    return this.#lines.replay(webhookId, replayId, ranges);
  }

  /** Returns the time of the last message and the state of the queue. */
  state(organizationId: string, knownIdentity: ChatIdentity | null): rpc.StateAnswer {
    const identity = this.#adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    return stateOf(this.#deliveries, identity, this.#log.newest(), Date.now());
  }

  /** Blanks a message; see `Redactions`. @param call the name of the request, by which a repeat is known */
  async redact(
    organizationId: string,
    id: string,
    knownIdentity: ChatIdentity | null,
    call: string,
  ): Promise<rpc.RedactAnswer> {
    await this.#alarm.standing();
    if (!this.#adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    return this.#redactions.redact(id, call);
  }

  /** The channel works again: a message that waited for it may be sent now. */
  async wake(): Promise<void> {
    await this.#alarm.standing();
    if (this.#adoption.identity()) this.#queue.wake();
  }

  /**
   * Deletes the chat of `life` and all its messages. A tombstone stays for ten minutes, so that a late call can't create
   * the chat again. Does nothing if the object holds a later life.
   */
  async erase(organizationId: string, life: number): Promise<void> {
    const newest = Math.max(this.#adoption.identity()?.life ?? 0, this.#adoption.tombstone()?.life ?? 0);
    if (newest > life) return;
    this.#visitors.closeAll();
    // Before the first await: an attempt under way must find no chat when it returns.
    const until = Date.now() + TOMBSTONE_MS;
    this.#adoption.bury({ organizationId, life, until });
    this.#report.forget();
    this.#lines.forget();
    this.#log.forget();
    await this.#alarm.set(until);
  }

  /** Reports activity and addresses, and delivers due messages and events. Never throws. */
  override async alarm(): Promise<void> {
    if (!this.#adoption.identity()) {
      this.#alarm.gone();
      // The platform may repeat an alarm that rang before the chat was deleted.
      const until = this.#adoption.tombstone()?.until ?? 0;
      return Date.now() < until ? this.#alarm.set(until) : this.ctx.storage.deleteAll();
    }
    // Not awaited: a receiver that is slow delays neither the messages nor the report.
    this.#lines.start();
    await this.#queue.ring(async () => {
      await Promise.all([this.#report.onAlarm(), this.#contact.save()]);
    });
  }

  /** Sets the alarm for the report of a change. While a client waits for events, the report goes out at once. */
  async #announce(): Promise<void> {
    await this.#alarm.by(this.#report.changed());
    this.#lines.start();
    if (this.#report.isListened) this.ctx.waitUntil(this.#report.flush());
  }

  /** When the report and the webhooks' lines need the alarm; null if they do not. */
  #otherWorkAt(now: number): number | null {
    const addressesAt = this.#contact.hasPending ? now + AGAIN_AFTER_MS : null;
    const times = [addressesAt, this.#report.dueAt(), this.#lines.dueAt(now)].filter((at) => at !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** The chat as delivery needs it; null if no network delivers its messages. */
  #delivering(): DeliveringChat | null {
    const identity = this.#adoption.identity();
    if (!identity || identity.channelKind === "web") return null;
    return {
      identity,
      channel: channelPort(this.env, identity.channelId),
      network: networkPort(this.env, identity.channelKind),
      exists: () => this.#adoption.exists(identity.life),
      address: () => this.#contact.current(identity),
      learn: (addresses, moved) => this.#contact.learn(addresses, moved),
      attempted: (outcome) => this.#report.attempted(outcome),
    };
  }

  #depth(): number {
    // A web message is never queued. Looking for the first queued one would read the whole chat.
    return this.#adoption.identity()?.channelKind === "web" ? 0 : this.#log.queue.depth();
  }
}
