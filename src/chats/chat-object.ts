import { DurableObject } from "cloudflare:workers";
import type { Place } from "../http/pagination.ts";
import { causeOf } from "../log.ts";
import { StandingAlarm } from "../platform/alarm.ts";
import { ActivityReport, REPORT_AFTER_MS } from "./activity-report.ts";
import { ContactAddresses } from "./contact-addresses.ts";
import { afterWake } from "./delivery/head.ts";
import { Outbox, type OutboxHost } from "./delivery/outbox.ts";
import { stateOf } from "./delivery/queue.ts";
import { begin, NOT_TRIED, wakeAt } from "./delivery/schedule.ts";
import { Adoption } from "./identity.ts";
import { isFull, limitReached } from "./log/limits.ts";
import { type ChatIdentity, MessageLog } from "./log/message-log.ts";
import { inboundMessage, nextPlace, outboundMessage, replay } from "./log/new-message.ts";
import { MessagePages } from "./log/pages.ts";
import { redacted } from "./log/redaction.ts";
import type { Message } from "./message.ts";
import type {
  ApplyStatusAnswer,
  Draft,
  InboundDraft,
  ListAnswer,
  MediaPointer,
  MessageAnswer,
  ReceiveAnswer,
  SendAnswer,
  StateAnswer,
  StatusNews,
  Unknown,
} from "./rpc.ts";
import { Visitors } from "./visitors/visitors.ts";

const UNKNOWN: Unknown = { outcome: "unknown" };
const AGAIN_AFTER_MS = 30_000;
const TOMBSTONE_MS = 600_000;

/**
 * One chat: its messages, in order, and their delivery. It owns them alone: what it has answered for is on disk, and
 * every message has its place in a sequence without a gap.
 *
 * It knows only its id until a caller adopts it with what the directory says of the chat; until then, and to another
 * organization always, it is unknown, and it writes nothing for strangers.
 */
export class ChatObject extends DurableObject<Env> {
  readonly #log = new MessageLog(this.ctx.storage);
  readonly #pages = new MessagePages(this.#log);
  readonly #adoption = new Adoption(this.ctx.storage, () => this.#log.prepare());
  readonly #outbox = new Outbox();
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  readonly #contact = new ContactAddresses(this.ctx.storage);
  readonly #activity = new ActivityReport(this.ctx.storage, this.#log, () => this.#depth());

  readonly #visitors = new Visitors({
    state: this.ctx,
    env: this.env,
    log: this.#log,
    identity: () => this.#adoption.identity(),
    isRepeated: (dedupe) => this.#log.byDedupe(`in:${dedupe}`) !== null,
    receive: (organizationId, draft, adoption) => this.receive(organizationId, draft, adoption),
  });

  /** A visitor's socket, from our own Worker alone: what its headers say was verified there. */
  override fetch(request: Request): Response {
    return this.#visitors.accept(request);
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    return this.#visitors.onMessage(socket, data);
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#visitors.onClose(socket, code);
  }

  /** A page of the messages; `have` is the version of the one that the caller has of this place. */
  list(organizationId: string, place: Place, adoption: ChatIdentity | null, have?: string): ListAnswer {
    if (!this.#adoption.open(organizationId, adoption)) return UNKNOWN;
    return this.#pages.read(this.#log.newest().seq, place, have);
  }

  get(organizationId: string, messageId: string, adoption: ChatIdentity | null): MessageAnswer {
    if (!this.#adoption.open(organizationId, adoption)) return UNKNOWN;
    const row = this.#log.byId(messageId);
    return row ? { outcome: "ok", doc: row.doc } : { outcome: "no_message" };
  }

  /**
   * Stores messages to be delivered, in one commit. Each has its own answer.
   * @returns the answers, in the drafts' order
   */
  async send(organizationId: string, drafts: Draft[], adoption: ChatIdentity | null): Promise<SendAnswer[] | Unknown> {
    // Asked first: from here to the last write nothing is awaited, so messages and alarm are one commit.
    await this.#alarm.standing();
    const identity = this.#adoption.open(organizationId, adoption);
    if (!identity) return UNKNOWN;
    const answers = drafts.map((draft) => this.#store(identity, draft));
    // A repeated call may find its messages stored and no alarm set.
    if (answers.every(({ outcome }) => outcome === "refused")) return answers;
    // The output gate holds the network call until the rows are on disk.
    if (identity.channelKind !== "web") this.ctx.waitUntil(this.#deliver());
    await this.#alarm.by(Date.now() + REPORT_AFTER_MS);
    return answers;
  }

  /**
   * The checks stand in this order because an idempotency key that has been used answers with its first message,
   * whatever has become of the sender, the template or the queue since.
   */
  #store(identity: ChatIdentity, draft: Draft): SendAnswer {
    const dedupe = draft.idempotencyHash === null ? null : `key:${draft.idempotencyHash}`;
    const first = dedupe === null ? null : this.#log.byDedupe(dedupe);
    if (first) return replay(first, draft);
    if (draft.prepared.outcome === "refused") return draft.prepared;
    const waits = identity.channelKind !== "web";
    const depth = this.#depth();
    const limit = limitReached(this.#log, depth);
    if (limit) {
      // A call that was made again, because its answer got lost, is not refused for what it stored itself.
      const stored = this.#log.byId(draft.id);
      return stored ? { outcome: "stored", doc: stored.doc, replayed: false } : { outcome: "refused", code: limit };
    }

    // The first attempt is marked in the insert itself: it would be a second write a moment later.
    const startsNow = waits && depth === 0 && !this.#outbox.running;
    const message = outboundMessage(draft, draft.prepared, nextPlace(this.#log.newest(), identity, Date.now()), waits);
    const delivery = waits ? (startsNow ? begin(NOT_TRIED, Date.now()) : NOT_TRIED) : null;
    const { fingerprint, prepared } = draft;
    const { template } = prepared;
    const { doc, isNew } = this.#log.append({ message, dedupe, fingerprint, template, delivery, media: null });
    if (!isNew) return { outcome: "stored", doc, replayed: false };
    if (!waits) this.#visitors.stored(message);
    if (startsNow) this.#outbox.adopt(message.seq);
    return { outcome: "stored", doc, replayed: false };
  }

  /** Stores a message that the contact wrote; one that the network repeats is stored once. */
  async receive(organizationId: string, draft: InboundDraft, adoption: ChatIdentity | null): Promise<ReceiveAnswer> {
    await this.#alarm.standing();
    const identity = this.#adoption.open(organizationId, adoption);
    if (!identity) return UNKNOWN;
    this.#learn(draft.addresses, false);
    const dedupe = `in:${draft.dedupe}`;
    const first = this.#log.byDedupe(dedupe);
    if (first) {
      // It comes again where the first call stored it and had no alarm set.
      await this.#alarm.by(this.#dueAt(null));
      return { outcome: "repeated", doc: first.doc };
    }
    if (isFull(this.#log)) return { outcome: "chat_full" };
    const message = inboundMessage(draft, nextPlace(this.#log.newest(), identity, Date.now()));
    const { media } = draft;
    const { doc } = this.#log.append({ message, dedupe, fingerprint: null, template: null, delivery: null, media });
    await this.#alarm.by(Date.now() + REPORT_AFTER_MS);
    return { outcome: "stored", doc };
  }

  /** Takes what the network told of a message of ours: it may come before the answer to the send, twice, or late. */
  async applyStatus(
    organizationId: string,
    channelId: string,
    news: StatusNews,
    adoption: ChatIdentity | null,
  ): Promise<ApplyStatusAnswer> {
    await this.#alarm.standing();
    const identity = this.#adoption.open(organizationId, adoption);
    if (identity?.channelId !== channelId) return UNKNOWN;
    const host = this.#outboxHost();
    const taken = host && this.#outbox.applyStatus(host, news);
    if (!taken) return { outcome: "no_message" };
    this.#learn(news.addresses, false);
    // It may have been what the line waited for; or have broken the channel, which then holds the line.
    this.ctx.waitUntil(this.#goOn(taken));
    return { outcome: "ok" };
  }

  /** The contact has another address from now on. */
  moved(organizationId: string, address: string, adoption: ChatIdentity | null): ApplyStatusAnswer {
    if (!this.#adoption.open(organizationId, adoption)) return UNKNOWN;
    this.#learn([address], true);
    return { outcome: "ok" };
  }

  /** Where the media of an inbound message is to be fetched. */
  media(organizationId: string, messageId: string, adoption: ChatIdentity | null): MediaPointer {
    const identity = this.#adoption.open(organizationId, adoption);
    if (!identity) return UNKNOWN;
    if (!this.#log.byId(messageId)) return { outcome: "no_message" };
    const media = this.#log.mediaOf(messageId);
    return media ? { outcome: "ok", channelId: identity.channelId, media } : { outcome: "no_media" };
  }

  /** When the chat had its last message, and what waits in it. */
  state(organizationId: string, adoption: ChatIdentity | null): StateAnswer {
    const identity = this.#adoption.open(organizationId, adoption);
    if (!identity) return UNKNOWN;
    return stateOf(this.#log, identity, this.#log.newest(), Date.now());
  }

  /**
   * Blanks a message. A message that still waits becomes FAILED, because nothing is left to deliver. `call` names the
   * request: a request that is repeated after a lost answer has the same name and gets the same answer.
   */
  async redact(
    organizationId: string,
    id: string,
    adoption: ChatIdentity | null,
    call: string,
  ): Promise<MessageAnswer> {
    await this.#alarm.standing();
    if (!this.#adoption.open(organizationId, adoption)) return UNKNOWN;
    const row = this.#log.byId(id);
    if (row && this.#log.redactedBy(row.seq) === call) return { outcome: "ok", doc: row.doc };
    if (!row || row.redactedAt !== null) return { outcome: "no_message" };
    this.#outbox.beforeRedaction(this.#outboxHost(), row.seq);
    const message = redacted(JSON.parse(row.doc));
    const doc = JSON.stringify(message);
    this.#log.redact(row.seq, doc, Date.now(), call);
    this.#visitors.changed(message);
    this.ctx.waitUntil(this.#goOn());
    return { outcome: "ok", doc };
  }

  /** The channel works again: what was held because it was broken may try now. */
  async wake(): Promise<void> {
    await this.#alarm.standing();
    if (!this.#adoption.identity()) return;
    this.#outbox.wake();
    const head = this.#log.head();
    const delivery = head && afterWake(head.delivery, Date.now());
    if (delivery) this.#log.writeDelivery(head.seq, delivery, head.parts, head.lastError);
    this.ctx.waitUntil(this.#goOn());
  }

  /**
   * Erases the chat with all its messages. A mark stays for ten minutes, so that a caller who read the directory before
   * the chat was deleted there does not adopt it again.
   */
  async erase(): Promise<void> {
    this.#visitors.closeAll();
    const gone = this.ctx.storage.deleteAll();
    // Before anything else runs: what an attempt under way finds when it comes back is a chat that does not exist.
    this.#alarm.gone();
    this.#adoption.forget();
    this.#log.forget();
    await gone;
    this.#adoption.markErased(Date.now());
    await this.#alarm.set(Date.now() + TOMBSTONE_MS);
  }

  /**
   * The safety net of delivery, and the report of activity. It sets the next alarm before it works and never throws:
   * the platform repeats an alarm that threw only a few times.
   */
  override async alarm(): Promise<void> {
    this.#alarm.gone();
    const identity = this.#adoption.identity();
    if (!identity) return this.ctx.storage.deleteAll();
    await this.#alarm.set(Date.now() + AGAIN_AFTER_MS);
    await this.#activity.tell(this.env, identity, this.#exists(identity));
    await this.#contact.tell(this.env, identity, this.#exists(identity));
    const lineAt = await this.#work();
    if (!this.#adoption.identity()) return;
    this.#log.keepPlace();
    await this.#alarm.set(this.#dueAt(lineAt));
  }

  /** Works the line off as far as it may be, and has the alarm stand for the rest. */
  async #deliver(): Promise<void> {
    const lineAt = await this.#work();
    await this.#alarm.by(this.#adoption.identity() ? this.#dueAt(lineAt) : null);
  }

  /** What waits may have come due. With what made it so, one commit: the alarm, should the instance be lost. */
  async #goOn(first?: Promise<void>): Promise<void> {
    const now = Date.now();
    const head = this.#outboxHost() && this.#log.head();
    if (head && wakeAt(head.delivery, now) <= now) await this.#alarm.by(now + AGAIN_AFTER_MS);
    await first;
    await this.#deliver();
  }

  /** Never throws. @returns when the message whose turn it is wants to go on; null while none waits */
  async #work(): Promise<number | null> {
    const host = this.#outboxHost();
    if (!host) return null;
    try {
      await this.#outbox.run(host);
      const head = host.exists() ? this.#log.head() : null;
      return head && wakeAt(head.delivery, Date.now());
    } catch (error) {
      console.error({ event: "delivery_broke_off", chatId: host.identity.chatId, error: causeOf(error) });
      return Date.now() + AGAIN_AFTER_MS;
    }
  }

  /** When the object wants to be awake: for its line, and for what others are not told yet. */
  #dueAt(lineAt: number | null): number | null {
    const now = Date.now();
    const addressesAt = this.#contact.untold ? now + AGAIN_AFTER_MS : null;
    const due = [lineAt, addressesAt, this.#activity.dueAt(now)].filter((at) => at !== null);
    return due.length > 0 ? Math.min(...due) : null;
  }

  /** Whether a chat still exists: one that was erased and opened again has the same id, but was made later. */
  readonly #exists =
    ({ createdAt }: ChatIdentity) =>
    () =>
      this.#adoption.identity()?.createdAt === createdAt;

  /** What the outbox is given; null where nothing goes out. */
  #outboxHost(): OutboxHost | null {
    const identity = this.#adoption.identity();
    if (!identity || identity.channelKind === "web") return null;
    return {
      env: this.env,
      log: this.#log,
      identity: { ...identity, channelKind: identity.channelKind },
      exists: this.#exists(identity),
      standBy: (at) => this.#alarm.by(at),
      address: () => this.#contact.current(identity),
      learn: (addresses, moved) => this.#learn(addresses, moved),
      attempted: (outcome) => this.#activity.attempted(outcome),
      change: this.#change,
    };
  }

  /** Stores a message's new status. */
  readonly #change: OutboxHost["change"] = (message, status, error, known) => {
    const at = Math.max(Date.now(), Date.parse(message.updatedAt));
    const changed: Message = { ...message, status, error, updatedAt: new Date(at).toISOString() };
    this.#log.writeDocument(changed, known);
    if (message.status === "QUEUED" && status !== "QUEUED") this.#log.leftQueue(message.seq);
  };

  /** Further addresses of the contact find this chat from now on; the first of them is used where the contact moved. */
  #learn(addresses: string[], moved: boolean): void {
    const identity = this.#adoption.identity();
    if (!identity) return;
    if (moved && addresses[0] !== undefined) this.#contact.move(addresses[0]);
    if (!this.#contact.note(identity, addresses)) return;
    this.ctx.waitUntil(this.#contact.tell(this.env, identity, this.#exists(identity)));
  }

  #depth(): number {
    // A web message is never queued. Looking for the first queued one would read the whole chat.
    return this.#adoption.identity()?.channelKind === "web" ? 0 : this.#log.depth();
  }
}
