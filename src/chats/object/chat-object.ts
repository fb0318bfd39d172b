import { DurableObject } from "cloudflare:workers";
import type * as rpc from "../../model/chat-answers.ts";
import type { AsOwner, ChatIdentity, ChatRetention, Due } from "../../model/chat-answers.ts";
import type { ListPosition } from "../../model/list-page.ts";
import type { AddressChange } from "../../model/network.ts";
import type { KnownChat } from "../../model/organization.ts";
import type { SearchTargets } from "../../model/search-index.ts";
import type { Visitor } from "../../model/visitor.ts";
import type { EventRange } from "../../model/webhook.ts";
import { asText, type Text } from "../../platform/answer-text.ts";
import { hasDueWork } from "../../platform/object/due-work.ts";
import { ChatParts } from "./chat-parts.ts";
import { describeQueue } from "./delivery/queue.ts";
import { UNKNOWN } from "./identity.ts";
import { exportedPage } from "./log/exported-lines.ts";
import { turnsOf } from "./scheduled/turns.ts";
import { matchingMessages } from "./search/matching-messages.ts";
import { isOwner } from "./visitors/socket-check.ts";
import { eventNumber } from "./webhook-subscriptions.ts";

/**
 * One chat: its messages in order, and their delivery. An answer leaves only after its writes are on disk, and message
 * numbers have no gap.
 *
 * An object initially knows only its id. The organization's object gives a chat's identity to a caller, who passes it
 * on, and the object adopts it. Before that, and to other organizations always, it answers `unknown` and writes
 * nothing.
 */
export class ChatObject extends DurableObject<Env> {
  protected readonly parts = new ChatParts(this.ctx, this.env, (as, draft) => this.receive(as, draft));

  /** Accepts a visitor's socket. Only our Worker calls this, and it has verified what the headers say. */
  override fetch(request: Request): Response {
    return this.parts.visitors.accept(request);
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    // Work that needs the alarm asks for it again, and sends the visitor an error if that fails.
    await this.parts.alarm.standing().catch(() => null);
    return this.parts.visitors.onMessage(socket, data);
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.parts.visitors.onClose(socket, code);
  }

  /** Returns a page of messages. @param cachedVersion the version of this page that the caller has cached */
  list(
    as: AsOwner,
    position: ListPosition,
    cachedVersion?: string,
  ): rpc.ListAnswer | Text<rpc.ListAnswer> | rpc.Unknown {
    return this.parts.adoption.forOwner(as, () => {
      const answer = this.parts.pages.read(position, cachedVersion);
      // A page is bytes.
      return as.asText && answer.outcome !== "ok" ? asText(answer) : answer;
    });
  }

  async listMatching(
    as: AsOwner,
    filter: rpc.MessageFilter,
    { before, limit }: { before: string | null; limit: number },
  ): Promise<rpc.ListAnswer | rpc.Unknown> {
    const { adoption, filteredPages } = this.parts;
    return adoption.forOwner(as, ({ life }) => filteredPages.read(filter, before, limit, () => adoption.exists(life)));
  }

  /** Those of these messages that contain a text, as `folded` returns it. */
  async matching(as: AsOwner, places: rpc.MessagePlace[], search: string): Promise<rpc.MatchingAnswer | rpc.Unknown> {
    const { adoption, tables } = this.parts;
    return adoption.forOwner(as, ({ life }) =>
      matchingMessages(tables.messages, places, search, () => adoption.exists(life)),
    );
  }

  /** Indexes what was said before the search was on; see `SearchFeed`. */
  fillSearch(as: AsOwner, targets: SearchTargets): Promise<rpc.FillSearchAnswer | rpc.Unknown> {
    return this.#forOwner(as, async ({ life }) => {
      const isDone = await this.parts.search.fill(targets);
      return this.parts.adoption.exists(life) ? { outcome: "ok", isDone } : UNKNOWN;
    });
  }

  exportPage(as: AsOwner, asked: rpc.ExportAsked): rpc.ExportAnswer {
    return this.parts.adoption.forOwner(as, ({ life }) => {
      if (asked.life !== null && asked.life !== life) return UNKNOWN;
      return { outcome: "ok", life, ...exportedPage(this.parts, asked) };
    });
  }

  get(as: AsOwner, messageId: string): rpc.MessageAnswer {
    return this.parts.adoption.forOwner(as, () => {
      const doc = this.parts.messageById(messageId);
      return doc === null ? { outcome: "no_message" } : { outcome: "ok", doc };
    });
  }

  /** Stores messages for delivery, in one commit. @returns an answer for each draft, in the drafts' order */
  send(as: AsOwner, drafts: rpc.Draft[]): Promise<rpc.SendAnswer[] | Text<rpc.SendAnswer[]> | rpc.Unknown> {
    return this.#forOwner(as, async (identity) => {
      // The alarm may be late. Messages that were due before come first.
      this.parts.scheduled.placeDue();
      const answers = drafts.map((draft) => this.parts.store.outbound(identity, draft, as.isRepeat));
      // Even if nothing is new: the first call may have stored the messages and lost the alarm.
      if (answers.some(({ outcome }) => outcome !== "refused")) await this.#startDelivery(identity);
      return as.asText ? asText(answers) : answers;
    });
  }

  listScheduled(as: AsOwner, limit: number, after: (Due & { start?: number }) | null): rpc.ScheduledAnswer {
    return this.parts.adoption.forOwner(as, () => ({ outcome: "ok", body: this.parts.scheduled.list(limit, after) }));
  }

  move(as: AsOwner, messageId: string, change: rpc.MoveBody): Promise<rpc.MoveAnswer> {
    return this.#forOwner(as, async (identity) => {
      const answer = this.parts.actions.move(messageId, change, as.isRepeat);
      if (answer.outcome === "ok") await this.#startDelivery(identity);
      return answer;
    });
  }

  cancel(as: AsOwner, messageId: string): Promise<rpc.CancelAnswer> {
    return this.#forOwner(as, async () => {
      const answer = this.parts.actions.cancel(messageId);
      // Even if it was canceled before: the first call may have lost the alarm.
      if (answer.outcome === "ok") await this.parts.announce();
      return answer;
    });
  }

  resend(as: AsOwner, request: rpc.ResendRequest): Promise<rpc.SendAnswer | rpc.Unknown> {
    return this.#forOwner(as, async (identity) => {
      this.parts.scheduled.placeDue();
      const answer = this.parts.actions.resend(identity, request, as.isRepeat);
      if (answer.outcome !== "refused") await this.#startDelivery(identity);
      return answer;
    });
  }

  attempts(as: AsOwner, messageId: string): rpc.AttemptsAnswer {
    return this.parts.adoption.forOwner(as, () => this.parts.actions.attempts(messageId));
  }

  /**
   * Adopts the chat, so that it answers to its organization. Repeating the call changes nothing.
   * @param isWanted the company has asked for the chat: it stays, even if a visitor's file began it
   */
  adopt(identity: ChatIdentity, isWanted = false): Promise<rpc.AdoptAnswer> {
    const as = { organizationId: identity.organizationId, knownIdentity: identity, isRepeat: false };
    return this.#forOwner(as, async () => {
      if (isWanted) this.parts.files.keepChat();
      await this.parts.announce();
      return { outcome: "ok" };
    });
  }

  /** The organization that the chat belongs to, or belonged to lately; null if the object holds nothing. */
  owner(): { organizationId: string } | null {
    const owner = this.parts.adoption.identity() ?? this.parts.adoption.tombstone();
    return owner ? { organizationId: owner.organizationId } : null;
  }

  /** Stores a message from the contact. A message that the network repeats is stored once. */
  receive(as: AsOwner, draft: rpc.InboundDraft): Promise<rpc.ReceiveAnswer> {
    return this.#forOwner(as, async (identity) => {
      this.parts.contact.learn(draft.addresses, draft.username);
      const answer = this.parts.store.inbound(identity, draft);
      // The first call may have stored the message and lost the alarm.
      if (answer.outcome === "repeated") await this.parts.due.standBy();
      if (answer.outcome === "stored") {
        await (answer.awayDoc === undefined ? this.parts.announce() : this.#startDelivery(identity));
      }
      await this.parts.contact.saved();
      return answer;
    });
  }

  /** Stores what the company wrote elsewhere; see `Echoes`. */
  echo(as: AsOwner, draft: rpc.EchoDraft): Promise<rpc.EchoAnswer> {
    return this.#forOwner(as, async (identity) => {
      this.parts.contact.learn(draft.addresses, draft.username);
      const answer = this.parts.echoes.receive(identity, draft);
      if (answer.outcome === "stored") await this.parts.announce();
      // The first call may have stored it and lost the alarm.
      else await this.parts.due.standBy();
      await this.parts.contact.saved();
      return answer;
    });
  }

  /** The network's own agent gave the conversation back to the company at `at`, Unix milliseconds. */
  handedBack(as: AsOwner, at: number): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, (identity) => this.parts.details.handedBack(identity, at));
  }

  /** Applies a status from the network. It may arrive before the answer to the send, twice, or late. */
  applyStatus(as: AsOwner, channelId: string, news: rpc.StatusNews): Promise<rpc.ApplyStatusAnswer> {
    return this.#forOwner(as, async (identity) => {
      if (identity.channelId !== channelId) return UNKNOWN;
      if (!this.parts.queue.applyStatus(news)) return { outcome: "no_message" };
      await this.parts.contact.saved();
      return { outcome: "ok" };
    });
  }

  /** The contact's addresses have changed. */
  changeAddresses(as: AsOwner, change: AddressChange): Promise<rpc.ApplyStatusAnswer> {
    return this.#forOwner(as, async () => {
      this.parts.contact.move(change);
      await this.parts.announce();
      return { outcome: "ok" };
    });
  }

  /** Returns where the media of a message is: at its network, or with us. */
  media(as: AsOwner, messageId: string): rpc.MediaPointer {
    return this.parts.adoption.forOwner(as, ({ channelId, life }) => {
      const placed = this.parts.log.byId(messageId);
      const withoutSeq = placed ? null : this.parts.scheduled.find(messageId);
      if (!placed && !withoutSeq) return { outcome: "no_message" };
      const media = placed ? this.parts.log.mediaOf(placed.seq) : (withoutSeq?.media ?? null);
      if (!media) return { outcome: "no_media" };
      const { createdAt } = withoutSeq?.message ?? (JSON.parse(placed?.doc ?? "") as { createdAt: string });
      return { outcome: "ok", channelId, life, media, createdAt: Date.parse(createdAt) };
    });
  }

  /** A message's network no longer has its media, and is not asked again. Repeating the call writes nothing. */
  mediaGone(as: AsOwner, messageId: string): Promise<rpc.ApplyStatusAnswer> {
    return this.#forOwner(as, () => {
      const row = this.parts.log.byId(messageId);
      if (!row) return { outcome: "no_message" };
      this.parts.log.mediaGone(row.seq);
      return { outcome: "ok" };
    });
  }

  reserveFile(as: AsOwner, request: rpc.FileRequest): Promise<rpc.ReserveAnswer> {
    return this.#forOwner(as, async (identity) => {
      const answer = this.parts.files.reserve(identity, request, "company");
      if (answer.outcome === "reserved") await this.parts.due.standBy();
      return answer;
    });
  }

  /** Makes room for a visitor's file. It may begin the chat. */
  async reserveVisitorFile(as: AsOwner, visitor: Visitor, request: rpc.FileRequest): Promise<rpc.ReserveAnswer> {
    await this.parts.alarm.standing();
    const isBegun = this.parts.adoption.identity() === undefined;
    return this.parts.adoption.forOwner(as, async (identity) => {
      if (!isOwner(visitor, identity)) return UNKNOWN;
      if (isBegun) this.parts.files.begin();
      const answer = this.parts.files.reserve(identity, request, "visitor");
      if (isBegun) await this.parts.announce();
      await this.parts.due.standBy();
      return answer;
    });
  }

  confirmFile(as: AsOwner, request: rpc.ConfirmRequest): Promise<rpc.ConfirmAnswer> {
    return this.#forOwner(as, async (identity) => {
      const answer = this.parts.files.confirm(identity, request);
      if (answer.outcome === "ok") await this.parts.due.standBy();
      return answer;
    });
  }

  patch(as: AsOwner, details: rpc.DetailsPatch): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, (identity) => this.parts.details.patch(identity, { details }));
  }

  /**
   * Assigns the chat to a member or to nobody, and changes the details too, all or nothing. Not a field of `patch`: an
   * object that runs an earlier version would ignore it.
   */
  assign(as: AsOwner, assignment: rpc.Assignment, details: rpc.DetailsPatch): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, (identity) => this.parts.details.patch(identity, { details, assignment }, as.isRepeat));
  }

  /**
   * Says whether the contact takes marketing, and changes the assignee and the details too, all or nothing. Not a field of
   * `patch`, as for `assign`.
   */
  changeMarketing(
    as: AsOwner,
    marketing: rpc.MarketingChange,
    details: rpc.DetailsPatch,
    assignment: rpc.Assignment | null,
  ): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, (identity) =>
      this.parts.details.patch(identity, { details, assignment, marketing }, as.isRepeat),
    );
  }

  /** Changes the state of the chat's work, and everything else of the change. Apart from `patch`, as for `assign`. */
  changeState(as: AsOwner, change: rpc.ChatChange): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, (identity) => this.parts.details.patch(identity, change, as.isRepeat));
  }

  /** Changes the contact's person, and everything else of the change. Apart from `patch`, as for `assign`. */
  changePerson(as: AsOwner, change: rpc.ChatChange): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, (identity) => this.parts.details.patch(identity, change, as.isRepeat));
  }

  /** Sets the contact's person, if it has none. */
  setPerson(as: AsOwner, personId: string): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, (identity) => this.parts.details.setPerson(identity, personId));
  }

  /** Hands the chat to people or to the bot; see `HandOver`. */
  handOver(as: AsOwner, request: rpc.HandoverRequest): Promise<rpc.HandoverAnswer> {
    return this.#forOwner(as, async (identity) => {
      this.parts.scheduled.placeDue();
      const answer = this.parts.handOver.act(identity, request, as.isRepeat);
      if (answer.outcome !== "ok") return answer;
      await this.#startDelivery(identity);
      return { ...answer, reported: await this.parts.details.isReported() };
    });
  }

  /** Gives the chat a label of the organization, or takes it off. */
  label(as: AsOwner, labelId: string, isGiven: boolean): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, (identity) => this.parts.details.label(identity, labelId, isGiven));
  }

  /** The contact told its network whether it takes marketing. */
  hearMarketing(as: AsOwner, said: Omit<rpc.Said, "by">): Promise<rpc.ApplyStatusAnswer> {
    return this.#forOwner(as, async () => {
      this.parts.consent.hear({ ...said, by: "contact" });
      // Even if it was heard before: the first call may have lost the alarm.
      await this.parts.announce();
      return { outcome: "ok" };
    });
  }

  answered(as: AsOwner): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, () => this.parts.details.answered());
  }

  /** The same, only if the newest message has this seq. Apart from `answered`, as for `assign`. */
  answeredIf(as: AsOwner, ifSeq: number): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, () => this.parts.details.answered(ifSeq));
  }

  unanswered(as: AsOwner, by: rpc.CallerName | null = null): Promise<rpc.ChangeAnswer> {
    return this.#forOwner(as, () => this.parts.details.unanswered(by));
  }

  addNote(as: AsOwner, draft: rpc.NoteDraft): Promise<rpc.AddNoteAnswer> {
    return this.#forOwner(as, async (identity) => {
      const answer = this.parts.notes.add(identity, draft);
      // Even if it was stored before: the first call may have lost the alarm.
      if (answer.outcome === "stored") await this.parts.announce();
      return answer;
    });
  }

  notes(as: AsOwner, before: string | null, limit: number): rpc.NotesAnswer {
    return this.parts.adoption.forOwner(as, (identity) => this.parts.notes.list(identity, before, limit));
  }

  deleteNote(as: AsOwner, id: string, by: rpc.CallerName, mayAll: boolean): Promise<rpc.DeleteNoteAnswer> {
    return this.#forOwner(as, async () => {
      const answer = this.parts.notes.delete(id, by, mayAll, as.isRepeat);
      if (answer.outcome === "ok") await this.parts.announce();
      return answer;
    });
  }

  state(as: AsOwner): rpc.StateAnswer {
    return this.parts.adoption.forOwner(as, (identity) => {
      const queue = describeQueue(this.parts.log, identity, Date.now());
      return { outcome: "ok", activity: this.parts.report.activity(), queue };
    });
  }

  /** Blanks a message; see `Redactions`. @param call the name of the request, by which a repeat is known */
  redact(as: AsOwner, id: string, call: string): Promise<rpc.RedactAnswer> {
    return this.#forOwner(as, () => this.parts.redactions.redact(id, call));
  }

  react(as: AsOwner, messageId: string, emoji: string | null): Promise<rpc.ActAnswer<{ doc: string }>> {
    return this.#acting(as, () => this.parts.acts.react(messageId, emoji));
  }

  markRead(as: AsOwner, messageId: string): Promise<rpc.ActAnswer<{ shown: boolean }>> {
    return this.#acting(as, () => this.parts.acts.markRead(messageId));
  }

  async showTyping(as: AsOwner, by: rpc.CallerName, publicName?: string): Promise<rpc.ActAnswer<{ shown: boolean }>> {
    return this.parts.adoption.forOwner(as, () => this.parts.acts.showTyping(by, publicName));
  }

  change(as: AsOwner, change: rpc.MessageChange): Promise<rpc.MessageChangeAnswer> {
    return this.#forOwner(as, async ({ channelId }) => {
      // The status names its chat. One from another channel must not change this chat.
      if (change.change === "reaction_failed" && change.channelId !== channelId) return UNKNOWN;
      const answer = await this.parts.editsAndReactions.apply(change);
      // Even if nothing changed: the first call may have lost the alarm.
      if (answer.outcome === "ok") await this.parts.announce();
      return answer;
    });
  }

  /** The channel works again: a message that waited for it may be sent now. */
  async wake(): Promise<void> {
    await this.parts.alarm.standing();
    if (this.parts.adoption.identity()) this.parts.queue.wake();
  }

  /** Something is overdue here, as the organization's object knows; see `AlarmCheck`. @returns whether the alarm was lost */
  checkAlarm(organizationId: string, known: KnownChat): Promise<boolean> {
    return this.parts.alarmCheck.asked(organizationId, known);
  }

  async erase(organizationId: string, life: number): Promise<void> {
    await this.parts.erasure.erase(organizationId, life);
  }

  /** The channel keeps its messages longer, or for less time. */
  async retain(organizationId: string, life: number, retention: ChatRetention): Promise<void> {
    await this.parts.alarm.standing();
    if (this.parts.adoption.identify(organizationId, null)?.life !== life) return;
    this.parts.retention.onRetention(retention);
    await this.parts.due.standBy();
  }

  /**
   * The member was removed: unassigns the chat, unless another member has it by now. @throws if it can't be reported
   */
  async free(organizationId: string, life: number, memberId: string): Promise<void> {
    await this.parts.alarm.standing();
    if (this.parts.adoption.identify(organizationId, null)?.life !== life) return;
    const { outcome } = await this.parts.details.free(memberId);
    if (outcome !== "ok") throw new Error("The organization's object does not know whose the chat is");
  }

  /**
   * The bots of the channel up to this version have ended.
   * @param knownIdentity of a chat that no object may have adopted; else null
   * @throws if it can't be reported
   */
  async botGone(
    organizationId: string,
    life: number,
    version: number,
    knownIdentity: ChatIdentity | null,
  ): Promise<void> {
    await this.parts.alarm.standing();
    if (this.parts.adoption.identify(organizationId, knownIdentity)?.life !== life) return;
    this.parts.handover.gone(version);
    // Also if people had it: the organization would not ask if it knew.
    this.parts.report.repeatState();
    if (!(await this.parts.details.isReported())) throw new Error("The organization's object does not know who has it");
  }

  /** Places scheduled messages, delivers messages and events, reports what is new, and deletes what is old. */
  override async alarm(invocation?: AlarmInvocationInfo): Promise<void> {
    // The platform repeats an alarm only a few times. A repeated one waits for nothing.
    const { scheduled, work, handover, clock } = this.parts;
    if (!invocation?.isRetry && [scheduled, work, handover].some((part) => hasDueWork(part, clock.now()))) {
      // Before the wait: a call meanwhile must not set an alarm in place of the platform's repeat of this one.
      this.parts.alarm.rang();
      await turnsOf(this.env).begin();
    }
    return this.parts.due.ring(invocation);
  }

  /**
   * Does work for the chat's organization that may need the alarm. What it writes before its first await is one commit.
   */
  async #forOwner<Answer>(
    as: AsOwner,
    work: (identity: ChatIdentity) => Answer | Promise<Answer>,
  ): Promise<Answer | rpc.Unknown> {
    // Read before: nothing is awaited between this and the work's last write.
    await this.parts.alarm.standing();
    return this.parts.adoption.forOwner(as, work);
  }

  /** Makes an act, and announces what it changed. */
  #acting<Answer extends { outcome: string }>(as: AsOwner, act: () => Promise<Answer>): Promise<Answer | rpc.Unknown> {
    return this.#forOwner(as, async (identity) => {
      const answer = await act();
      if (!this.parts.adoption.exists(identity.life)) return UNKNOWN;
      // Even if nothing changed: the first call may have lost the alarm.
      if (answer.outcome === "ok") await this.parts.announce();
      return answer;
    });
  }

  /** Starts delivering stored messages, and announces them. Repeating the call changes nothing. */
  #startDelivery({ channelKind }: ChatIdentity): Promise<void> {
    if (channelKind !== "web") this.parts.queue.start();
    return this.parts.announce();
  }

  async events(as: AsOwner, range: rpc.EventsAsked, types: string[] | null): Promise<rpc.ReadEventsAnswer> {
    const { adoption, events } = this.parts;
    return adoption.forOwner(as, (identity) =>
      events.read(identity, range, types, () => adoption.exists(identity.life)),
    );
  }

  /** A webhook can be called again; see `Subscriptions.wake`. */
  wakeWebhook(
    webhookId: string,
    number: number,
    startedAt?: number,
    _subscriptionId?: string,
    depth?: number,
  ): Promise<number | null> {
    return this.parts.subscriptions.wake(webhookId, number, startedAt, depth);
  }

  async webhookLine(as: AsOwner, webhookId: string): Promise<rpc.WebhookSubscriptionAnswer> {
    return this.parts.adoption.forOwner(as, async () => {
      const subscription = await this.parts.subscriptions.all.describe(webhookId);
      return subscription ? { outcome: "ok", line: subscription } : { outcome: "no_line" };
    });
  }

  async skipEvent(as: AsOwner, webhookId: string, eventId: string): Promise<rpc.SkipEventAnswer> {
    return this.parts.adoption.forOwner(as, async (identity) => {
      return { outcome: await this.parts.subscriptions.skip(webhookId, eventNumber(identity, eventId)) };
    });
  }

  async retryEvent(as: AsOwner, webhookId: string): Promise<rpc.RetryEventAnswer> {
    return this.parts.adoption.forOwner(as, async () => {
      await this.parts.subscriptions.retry(webhookId);
      return { outcome: "ok" };
    });
  }

  /** Sends events to a webhook again; see `Subscriptions.replay`. @returns null if there is no chat */
  async replayEvents(webhookId: string, replayId: string, ranges: EventRange[]): Promise<number | null> {
    return this.parts.adoption.identity() ? this.parts.subscriptions.replay(webhookId, replayId, ranges) : null;
  }
}
