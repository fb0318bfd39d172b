import { DurableObject } from "cloudflare:workers";
import type { Place } from "../http/pagination.ts";
import { StandingAlarm } from "../platform/alarm.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { ActivityReport, REPORT_AFTER_MS } from "./activity-report.ts";
import { ContactAddresses } from "./contact-addresses.ts";
import { DeliveryLog } from "./delivery/delivery-log.ts";
import { channelPort, networkPort } from "./delivery/ports.ts";
import { type DeliveringChat, DeliveryQueue, stateOf } from "./delivery/queue.ts";
import { printNewDelivery, printRedacted } from "./delivery/row.ts";
import { replay } from "./idempotency.ts";
import { Adoption, type ChatIdentity } from "./identity.ts";
import { isFull, limitReached } from "./log/limits.ts";
import { MessageLog } from "./log/message-log.ts";
import { inboundMessage, nextPlace, outboundMessage } from "./log/new-message.ts";
import { MessagePages } from "./log/pages.ts";
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
  readonly #deliveries = new DeliveryLog(this.#log);
  readonly #pages = new MessagePages(this.#log);
  readonly #adoption = new Adoption(this.ctx.storage, () => this.#log.prepare());
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  readonly #contact = new ContactAddresses(this.ctx.storage);
  readonly #activity = new ActivityReport({
    kv: this.ctx.storage.kv,
    env: this.env,
    log: this.#log,
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
    if (identity.channelKind !== "web") this.#queue.start();
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

    const message = outboundMessage(draft, draft.prepared, nextPlace(this.#log.newest(), identity, Date.now()), waits);
    const delivery = waits ? this.#queue.newDelivery(depth) : null;
    const { fingerprint, prepared } = draft;
    const { template } = prepared;
    const { doc, isNew } = this.#log.append({
      message,
      dedupe,
      fingerprint,
      template,
      delivery: delivery && printNewDelivery(delivery),
      media: null,
    });
    if (!isNew) return { outcome: "stored", doc, replayed: false };
    if (delivery) this.#queue.stored(message.seq, delivery);
    else this.#visitors.stored(message);
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
      // It comes again if the first call stored it but set no alarm.
      await this.#alarm.by(this.#otherWorkAt(Date.now()));
      return { outcome: "repeated", doc: first.doc };
    }
    if (isFull(this.#log)) return { outcome: "chat_full" };
    const message = inboundMessage(draft, nextPlace(this.#log.newest(), identity, Date.now()));
    const { media } = draft;
    const { doc } = this.#log.append({ message, dedupe, fingerprint: null, template: null, delivery: null, media });
    await this.#alarm.by(Date.now() + REPORT_AFTER_MS);
    return { outcome: "stored", doc };
  }

  /** Stores a status that the network sent for a message. It may come before the answer to the send, twice, or late. */
  async applyStatus(
    organizationId: string,
    channelId: string,
    news: StatusNews,
    adoption: ChatIdentity | null,
  ): Promise<ApplyStatusAnswer> {
    await this.#alarm.standing();
    const identity = this.#adoption.open(organizationId, adoption);
    if (identity?.channelId !== channelId) return UNKNOWN;
    return this.#queue.applyStatus(news) ? { outcome: "ok" } : { outcome: "no_message" };
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
    return stateOf(this.#deliveries, identity, this.#log.newest(), Date.now());
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
    this.#queue.beforeRedaction(row.seq);
    const queued = this.#deliveries.delivered(row.seq);
    const delivery = queued && printRedacted(queued);
    const message = this.#log.redact(JSON.parse(row.doc) as Message, delivery, Date.now(), call);
    this.#visitors.changed(message);
    this.#queue.afterRedaction();
    return { outcome: "ok", doc: JSON.stringify(message) };
  }

  /** The channel works again: a message that it held may be sent now. */
  async wake(): Promise<void> {
    await this.#alarm.standing();
    if (this.#adoption.identity()) this.#queue.wake();
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
    this.#activity.forget();
    this.#adoption.forget();
    this.#log.forget();
    await gone;
    this.#adoption.markErased(Date.now());
    await this.#alarm.set(Date.now() + TOMBSTONE_MS);
  }

  /** Reports activity and addresses, and delivers what is due; never throws. */
  override async alarm(): Promise<void> {
    const identity = this.#adoption.identity();
    if (!identity) {
      this.#alarm.gone();
      return this.ctx.storage.deleteAll();
    }
    await this.#queue.ring(async () => {
      await this.#activity.flush();
      await this.#contact.tell(this.env, identity, this.#exists(identity));
    });
  }

  /** When the object wants to be awake for its reports; null if there is nothing to report. */
  #otherWorkAt(now: number): number | null {
    const addressesAt = this.#contact.untold ? now + AGAIN_AFTER_MS : null;
    const activityAt = this.#activity.dueAt();
    return addressesAt === null || activityAt === null
      ? (addressesAt ?? activityAt)
      : Math.min(addressesAt, activityAt);
  }

  /** Whether a chat still exists: one that was erased and opened again has the same id, but was made later. */
  readonly #exists =
    ({ createdAt }: ChatIdentity) =>
    () =>
      this.#adoption.identity()?.createdAt === createdAt;

  /** The chat as its deliveries need it; null if no network delivers its messages. */
  #delivering(): DeliveringChat | null {
    const identity = this.#adoption.identity();
    if (!identity || identity.channelKind === "web") return null;
    return {
      identity,
      channel: channelPort(this.env, identity.channelId),
      network: networkPort(this.env, identity.channelKind),
      exists: this.#exists(identity),
      address: () => this.#contact.current(identity),
      learn: (addresses, moved) => this.#learn(addresses, moved),
      attempted: (outcome) => this.#activity.attempted(outcome),
    };
  }

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
