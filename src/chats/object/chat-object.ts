import type { ListPosition } from "../../http/pagination.ts";
import { runParts } from "../../platform/object/alarm.ts";
import type * as rpc from "../rpc.ts";
import type { ChatIdentity, ChatRetention, Due } from "../rpc.ts";
import { ChatParts } from "./chat-parts.ts";
import { describeQueue } from "./delivery/queue.ts";
import { EventfulObject } from "./eventful-object.ts";
import { UNKNOWN } from "./identity.ts";
import { exportedPage } from "./log/exported-lines.ts";

/** After the alarm failed. */
const AGAIN_AFTER_MS = 30_000;

/**
 * One chat: its messages in order, and their delivery. An answer leaves only after its writes are on disk, and message
 * numbers have no gap.
 *
 * An object initially knows only its id. The organization's object gives a chat's identity to a caller, who passes it on,
 * and the object adopts it. Before that, and to other organizations always, it answers `unknown` and writes nothing.
 */
export class ChatObject extends EventfulObject {
  protected readonly parts = new ChatParts(this.ctx, this.env, (organizationId, draft, knownIdentity) =>
    this.receive(organizationId, draft, knownIdentity),
  );

  /** Accepts a visitor's socket. Only our Worker calls this, and it has verified what the headers say. */
  override fetch(request: Request): Response {
    return this.parts.visitors.accept(request);
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    // What needs the alarm asks for it again, and tells the visitor if that fails.
    await this.parts.alarm.standing().catch(() => null);
    return this.parts.visitors.onMessage(socket, data);
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.parts.visitors.onClose(socket, code);
  }

  /** Returns a page of messages. @param cachedVersion the version of this page that the caller has cached */
  list(
    organizationId: string,
    position: ListPosition,
    knownIdentity: ChatIdentity | null,
    cachedVersion?: string,
  ): rpc.ListAnswer | rpc.Unknown {
    if (!this.parts.adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    return this.parts.pages.read(position, cachedVersion);
  }

  /** Returns a page of the messages that a filter selects; see `FilteredPages.read`. */
  async listMatching(
    organizationId: string,
    filter: rpc.MessageFilter,
    { before, limit }: { before: string | null; limit: number },
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ListAnswer | rpc.Unknown> {
    const { adoption, filteredPages } = this.parts;
    const identity = adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    return filteredPages.read(filter, before, limit, () => adoption.exists(identity.life));
  }

  /** Returns messages for an export; see `exportedPage`. */
  exportPage(organizationId: string, asked: rpc.ExportAsked, knownIdentity: ChatIdentity | null): rpc.ExportAnswer {
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    if (!identity || (asked.life !== null && asked.life !== identity.life)) return UNKNOWN;
    const page = exportedPage(this.ctx.storage.sql, asked, this.parts.log.bounds());
    return { outcome: "ok", life: identity.life, ...page };
  }

  get(organizationId: string, messageId: string, knownIdentity: ChatIdentity | null): rpc.MessageAnswer {
    if (!this.parts.adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    const doc = this.parts.messageById(messageId);
    return doc === null ? { outcome: "no_message" } : { outcome: "ok", doc };
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
    await this.parts.alarm.standing();
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    // The alarm may be late. Messages that were due before come first.
    this.parts.scheduled.placeDue();
    const answers = drafts.map((draft) => this.parts.store.outbound(identity, draft, isRepeat));
    if (answers.every(({ outcome }) => outcome === "refused")) return answers;
    // Even if nothing is new: the first call may have stored the messages and lost the alarm.
    await this.parts.startDelivery(identity);
    return answers;
  }

  /** Lists the scheduled messages, soonest first. */
  listScheduled(
    organizationId: string,
    limit: number,
    after: Due | null,
    knownIdentity: ChatIdentity | null,
  ): rpc.ScheduledAnswer {
    if (!this.parts.adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    return { outcome: "ok", body: this.parts.scheduled.list(limit, after) };
  }

  /**
   * Changes a scheduled message's times; see `MessageActions.move`.
   * @param isRepeat an earlier call failed, and may have changed them
   */
  async move(
    organizationId: string,
    messageId: string,
    change: rpc.MoveBody,
    knownIdentity: ChatIdentity | null,
    isRepeat = false,
  ): Promise<rpc.MoveAnswer> {
    await this.parts.alarm.standing();
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    const answer = this.parts.actions.move(messageId, change, isRepeat);
    if (answer.outcome !== "ok") return answer;
    await this.parts.startDelivery(identity);
    return answer;
  }

  /** Cancels a message; see `MessageActions.cancel`. */
  async cancel(
    organizationId: string,
    messageId: string,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.CancelAnswer> {
    await this.parts.alarm.standing();
    if (!this.parts.adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    const answer = this.parts.actions.cancel(messageId);
    // Even if it was canceled before: the first call may have lost the alarm.
    if (answer.outcome === "ok") await this.parts.announce();
    return answer;
  }

  /** Sends a failed message again; see `MessageActions.resend`. @param isRepeat as in `send` */
  async resend(
    organizationId: string,
    request: rpc.ResendRequest,
    knownIdentity: ChatIdentity | null,
    isRepeat = false,
  ): Promise<rpc.SendAnswer | rpc.Unknown> {
    await this.parts.alarm.standing();
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    this.parts.scheduled.placeDue();
    const answer = this.parts.actions.resend(identity, request, isRepeat);
    if (answer.outcome === "refused") return answer;
    await this.parts.startDelivery(identity);
    return answer;
  }

  attempts(organizationId: string, messageId: string, knownIdentity: ChatIdentity | null): rpc.AttemptsAnswer {
    if (!this.parts.adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    return this.parts.actions.attempts(messageId);
  }

  /** Adopts the chat, so that it answers to its organization. Repeating the call changes nothing. */
  async adopt(identity: ChatIdentity): Promise<void> {
    await this.parts.alarm.standing();
    if (this.parts.adoption.identify(identity.organizationId, identity)) await this.parts.announce();
  }

  /** The organization that the chat belongs to, or belonged to lately; null if the object holds nothing. */
  owner(): { organizationId: string } | null {
    const owner = this.parts.adoption.identity() ?? this.parts.adoption.tombstone();
    return owner ? { organizationId: owner.organizationId } : null;
  }

  /** Stores a message from the contact. A message that the network repeats is stored once. */
  async receive(
    organizationId: string,
    draft: rpc.InboundDraft,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ReceiveAnswer> {
    await this.parts.alarm.standing();
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    this.parts.contact.learn(draft.addresses, false);
    const answer = this.parts.store.inbound(identity, draft);
    // The first call may have stored the message and lost the alarm.
    if (answer.outcome === "repeated") await this.parts.alarm.by(this.parts.otherWorkAt(Date.now()));
    if (answer.outcome === "stored") await this.parts.announce();
    return answer;
  }

  /** Applies a status from the network. It may arrive before the answer to the send, twice, or late. */
  async applyStatus(
    organizationId: string,
    channelId: string,
    news: rpc.StatusNews,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ApplyStatusAnswer> {
    await this.parts.alarm.standing();
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    if (identity?.channelId !== channelId) return UNKNOWN;
    return this.parts.queue.applyStatus(news) ? { outcome: "ok" } : { outcome: "no_message" };
  }

  /** Replaces the address that messages are sent to. */
  async changeAddress(
    organizationId: string,
    address: string,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ApplyStatusAnswer> {
    await this.parts.alarm.standing();
    if (!this.parts.adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    this.parts.contact.learn([address], true);
    await this.parts.announce();
    return { outcome: "ok" };
  }

  /** Returns what is needed to fetch the media of an inbound message from its network. */
  media(organizationId: string, messageId: string, knownIdentity: ChatIdentity | null): rpc.MediaPointer {
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    const placed = this.parts.log.byId(messageId);
    if (!placed) return { outcome: this.parts.scheduled.find(messageId) ? "no_media" : "no_message" };
    const media = this.parts.log.mediaOf(placed.seq);
    return media ? { outcome: "ok", channelId: identity.channelId, media } : { outcome: "no_media" };
  }

  /** Changes the contact's name and the metadata; see `StoredDetails.patch`. */
  async patch(
    organizationId: string,
    patch: rpc.DetailsPatch,
    knownIdentity: ChatIdentity | null,
  ): Promise<rpc.ChangeAnswer> {
    await this.parts.alarm.standing();
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    return identity ? this.parts.changes.patch(identity, patch) : UNKNOWN;
  }

  /** The contact's messages so far need no answer; see `StoredDetails.answered`. */
  async answered(organizationId: string, knownIdentity: ChatIdentity | null): Promise<rpc.ChangeAnswer> {
    await this.parts.alarm.standing();
    if (!this.parts.adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    return this.parts.changes.answered();
  }

  /** Returns the chat's activity and the state of its queue. */
  state(organizationId: string, knownIdentity: ChatIdentity | null): rpc.StateAnswer {
    const identity = this.parts.adoption.identify(organizationId, knownIdentity);
    if (!identity) return UNKNOWN;
    const queue = describeQueue(this.parts.deliveries, identity, Date.now());
    return { outcome: "ok", activity: this.parts.report.activity(), queue };
  }

  /** Blanks a message; see `Redactions`. @param call the name of the request, by which a repeat is known */
  async redact(
    organizationId: string,
    id: string,
    knownIdentity: ChatIdentity | null,
    call: string,
  ): Promise<rpc.RedactAnswer> {
    await this.parts.alarm.standing();
    if (!this.parts.adoption.identify(organizationId, knownIdentity)) return UNKNOWN;
    return this.parts.redactions.redact(id, call);
  }

  /** The channel works again: a message that waited for it may be sent now. */
  async wake(): Promise<void> {
    await this.parts.alarm.standing();
    if (this.parts.adoption.identity()) this.parts.queue.wake();
  }

  /** Deletes the chat of `life` and all its messages; see `Erasure.erase`. */
  async erase(organizationId: string, life: number): Promise<void> {
    await this.parts.erasure.erase(organizationId, life);
  }

  /** The channel keeps its messages longer, or not so long. */
  async retain(organizationId: string, life: number, retention: ChatRetention): Promise<void> {
    await this.parts.alarm.standing();
    if (this.parts.adoption.identify(organizationId, null)?.life !== life) return;
    this.parts.retention.onRetention(retention);
    await this.parts.alarm.by(this.parts.otherWorkAt(Date.now()));
  }

  /**
   * Reports activity and addresses, places scheduled messages, deletes old ones, and delivers due messages and events.
   * Never throws.
   */
  override async alarm(): Promise<void> {
    // Throws only if the alarm can't be set.
    if (!this.parts.adoption.identity()) return this.parts.erasure.onAlarm();
    const isDone = await runParts("chat", { work: () => this.#onAlarm() });
    // If this fails too, the platform repeats the alarm.
    if (!isDone && this.parts.adoption.identity()) await this.parts.alarm.by(Date.now() + AGAIN_AFTER_MS);
  }

  async #onAlarm(): Promise<void> {
    // Not awaited: a receiver that is slow delays neither the messages nor the report.
    this.parts.lines.start();
    // Before the queue: it delivers what takes its place now.
    this.parts.scheduled.placeDue();
    await this.parts.queue.ring(async () => {
      await Promise.all([this.parts.report.onAlarm(), this.parts.contact.save(), this.parts.retention.run()]);
    });
    // A long delivery must not delay them.
    await this.parts.alarm.by(this.parts.scheduled.alarmAt(Date.now()));
  }
}
