import { DurableObject } from "cloudflare:workers";
import type { ActEnd, ActFilter, ActPage, BeginAnswer, EndedAct, NewAct } from "../../model/audit.ts";
import type { Chat } from "../../model/chat.ts";
import type { ChatIdentity, ListAnswer } from "../../model/chat-answers.ts";
import type { EventFact, EventType } from "../../model/event.ts";
import type { ChannelBot } from "../../model/handover.ts";
import type { History } from "../../model/history.ts";
import type { RequestCounts } from "../../model/key.ts";
import type { Label, LabelAnswer, LabelChange } from "../../model/label.ts";
import type { OrganizationMetrics } from "../../model/metrics.ts";
import type { AddressChange } from "../../model/network.ts";
import type {
  Alike,
  ChannelHealth,
  ChatFilter,
  ChatPosition,
  ChatReport,
  ExportedChat,
  FeedAnswer,
  FeedPointer,
  FoundChat,
  LabelNumbers,
  MemberRecord,
  OpenAnswer,
  OpenRequest,
  OrganizationNumbers,
  ReportAnswer,
  WaitingPosition,
} from "../../model/organization.ts";
import type { SearchAnswer, SearchState, SearchTargets } from "../../model/search-index.ts";
import type { EventRange, ReportedWebhookState } from "../../model/webhook.ts";
import { ChatList } from "./chat-list.ts";
import { botOf, type ChatRow, presentChat } from "./chat-row.ts";
import { labelNumbers } from "./label-numbers.ts";
import type { MemberSession } from "./member-records.ts";
import { metricsOf } from "./metrics.ts";
import { openForContact } from "./open-chat.ts";
import { OrganizationParts } from "./organization-parts.ts";

type EventNote = Record<string, unknown>;

const AGAIN_AFTER_MS = 30_000;

/**
 * One organization: which chats it has, whose addresses they are, when each was last active, and the numbers of its
 * channels and keys. It knows nothing that a chat, a channel or a key can't report again, except which chats there are.
 */
export class OrganizationObject extends DurableObject<Env> {
  readonly #parts = new OrganizationParts(this.ctx, this.env);

  /** Creates the chat of a contact's address, or finds it. @throws if the channel is new and D1 does not answer */
  async open(request: OpenRequest): Promise<OpenAnswer> {
    if (!(await this.#parts.existence.knows(request.organizationId, request.channelId)))
      return { outcome: "no_channel" };
    this.#refreshIfOld();
    await this.#parts.alarm.standing();
    const { answer, adoptAt } = openForContact(this.#parts, request, Date.now());
    if (answer.outcome === "opened") this.#parts.list.changed();
    await this.#parts.alarm.by(adoptAt);
    return answer;
  }

  /**
   * A chat; null if there is none or it is being deleted.
   * @param labelIds of its labels, if its object asks, which may not have reported them; by default those of its report
   * @param bot the version of the bot that has it, by its object: null for people; by default that of its report
   */
  find(chatId: string, labelIds?: string[], bot?: number | null): Chat | null {
    const row = this.#visible(chatId);
    const channel = row && this.#parts.channels.get(row.channel_id);
    if (!channel || channel.isClosed) return null;
    const labels = labelIds ? JSON.stringify(labelIds) : row.labels;
    const known = { ...row, labels, bot: bot === undefined ? row.bot : bot };
    return presentChat(known, channel, this.#parts.labels);
  }

  /** The bot of a chat's channel; null if it has none. */
  botOf(chatId: string): ChannelBot | null {
    const row = this.#visible(chatId);
    const channel = row && this.#parts.channels.get(row.channel_id);
    const bot = channel && botOf(channel);
    return bot && bot.handOverAfterSeconds !== null ? bot : null;
  }

  /** The identity that a chat's object adopts; null if there is no such chat or it is being deleted. */
  identity(chatId: string): ChatIdentity | null {
    const row = this.#visible(chatId);
    const channel = row && this.#parts.channels.get(row.channel_id);
    return this.#parts.existence.id && channel && !channel.isClosed
      ? this.#parts.chats.identityOf(this.#parts.existence.id, channel, row)
      : null;
  }

  /** The id of the chat that an address leads to, or null. */
  findByAddress(channelId: string, address: string, alike?: Alike): string | null {
    return this.#isReady() ? (this.#parts.chats.byAddress(channelId, [address], alike)?.id ?? null) : null;
  }

  /**
   * Adds addresses of a chat's contact, which lead to the chat from now on, and replaces its public name if one is given.
   * A late call for a deleted chat does nothing.
   */
  addAddresses(chatId: string, life: number, addresses: string[], username?: string | null): void {
    const row = this.#visible(chatId);
    if (row?.life !== life) return;
    this.#parts.chats.learn(row, addresses, username);
    this.#parts.list.changed();
  }

  /** A contact's addresses have changed. @returns the ids of the contact's chats */
  moveContact(channelId: string, change: AddressChange, alike: Alike): string[] {
    if (!this.#isReady()) return [];
    this.#parts.list.changed();
    return this.#parts.chats.link(channelId, change, alike);
  }

  list(
    filter: ChatFilter,
    position: ChatPosition | WaitingPosition,
    hasLastMessage: boolean,
    have?: string,
  ): ListAnswer | Promise<ListAnswer> {
    if (!this.#isReady()) return ChatList.empty(filter, position);
    this.#refreshIfOld();
    if (filter.search !== undefined && "after" in position) {
      if (!this.#parts.contacts.isFilled()) this.ctx.waitUntil(this.#parts.alarm.by(Date.now()));
      return this.#parts.list.search(filter, position, hasLastMessage, this.#parts.existence);
    }
    return this.#parts.list.read(filter, position, hasLastMessage, have, this.#parts.existence.id ?? "");
  }

  /**
   * A list by `handler`, `person`, `label`, `optedOut` or `mentioned`. Apart from `list`: an object that runs an earlier
   * version would ignore these.
   */
  listNarrowed(
    filter: ChatFilter,
    position: ChatPosition | WaitingPosition,
    hasLastMessage: boolean,
    have?: string,
  ): ListAnswer | Promise<ListAnswer> {
    return this.list(filter, position, hasLastMessage, have);
  }

  chatsAfter(id: string, limit: number, only: string | null): ExportedChat[] {
    return this.#isReady() ? this.#parts.list.after(id, limit, only) : [];
  }

  /** Stores what a chat reports of itself. */
  report(report: ChatReport): ReportAnswer {
    const row = this.#visible(report.chatId);
    if (row?.life !== report.life) return { outcome: "unknown" };
    this.#refreshIfOld();
    const now = Date.now();
    const { webhooks } = this.#parts.settings;
    const startAfter = this.#parts.reports.store(row, report, webhooks.version, now);
    this.#parts.freed.reported(report.assigneeId);
    this.#parts.list.changed();
    const channel = this.#parts.channels.get(row.channel_id);
    const { nextAfterMs, restMs, isCrowded } = this.#parts.pace.next(now);
    return {
      outcome: "ok",
      number: Math.max(row.report, report.number),
      nextAfterMs,
      restMs,
      listeningForMs: isCrowded ? 0 : this.#parts.doorbells.listeningForMs(now),
      retention: channel?.retention,
      bot: channel && botOf(channel),
      search: this.#parts.searchIndexes.targets(),
      ...(startAfter !== null && { webhooks: { ...webhooks, startAfter } }),
    };
  }

  /**
   * Somebody writes in a chat: tells the streams.
   * @param news JSON of `TypingNews`
   * @returns whether a stream is open
   */
  typing(news: string): boolean {
    return this.#parts.doorbells.pass(news, Date.now());
  }

  /** Opens a doorbell; see `Doorbells`. Only our Worker calls this. */
  override fetch(request: Request): Response {
    return this.#parts.doorbells.accept(request);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#parts.doorbells.onClose(socket);
  }

  /** Up to `limit` pointers to events after a position; see `Feed`. Null before the organization's first chat. */
  feed(after: number, limit: number): FeedAnswer | null {
    if (!this.#isReady()) return null;
    const page = this.#parts.feed.read(after, limit);
    const unreadable = this.#parts.unreadable.among(
      page.pointers.map(({ chatId }) => chatId),
      Date.now(),
    );
    return Object.keys(unreadable).length > 0 ? { ...page, unreadable } : page;
  }

  /**
   * The object of a chat could not be read.
   * @returns for how many milliseconds it can't; null if there is no such chat
   */
  chatUnreadable(chatId: string): number | null {
    return this.#visible(chatId) ? this.#parts.unreadable.failed(chatId, Date.now()) : null;
  }

  /** The object of a chat that could not be read was read. */
  chatReadable(chatId: string): void {
    if (this.#isReady()) this.#parts.unreadable.worked(chatId);
  }

  /** Up to `limit` pointers after a position that were reported from `since` to `until`, Unix milliseconds. */
  pointersBetween(since: number, until: number, after: number, limit: number): FeedPointer[] {
    return this.#isReady() ? this.#parts.feed.between(since, until, after, limit) : [];
  }

  /** The organization's own events of a range, including both ends, and the life in their ids. */
  ownEvents(first: number, last: number): { life: string; events: EventFact[] } | null {
    return this.#isReady() ? { life: this.#parts.feed.life, events: this.#parts.feed.ownEvents(first, last) } : null;
  }

  /** A webhook's object reports an event. @param source a repeated call with the same source changes nothing */
  async webhookEvent(organizationId: string, type: EventType, note: EventNote, source: string): Promise<void> {
    if (!(await this.#parts.existence.exists(organizationId))) return;
    await this.#parts.alarm.standing();
    if (!this.#isReady()) return;
    this.#parts.feed.commit(() => this.#parts.feed.append(type, note, source, Date.now()));
  }

  /** A webhook's object reports that the webhook fails, is disabled, or works again. */
  async reportWebhook(organizationId: string, webhookId: string, state: ReportedWebhookState): Promise<void> {
    if (await this.#parts.existence.exists(organizationId)) this.#parts.webhookStates.report(webhookId, state);
  }

  /** A webhook's object can be called again. @see Subscriptions.wake */
  wakeWebhook(
    webhookId: string,
    number: number,
    startedAt: number,
    subscriptionId: string,
    depth?: number,
  ): Promise<number | null> {
    return this.#parts.subscriptions.wake(webhookId, number, startedAt, subscriptionId, depth);
  }

  /** Sends the organization's own events to a webhook again. @see Subscriptions.replay */
  replayEvents(webhookId: string, replayId: string, ranges: EventRange[], subscriptionId: string): Promise<number> {
    return this.#parts.subscriptions.replay(webhookId, replayId, ranges, subscriptionId);
  }

  /** Stores a channel's health. @throws if the channel is new here and D1 does not answer */
  async reportHealth(organizationId: string, channelId: string, health: ChannelHealth): Promise<void> {
    if (!(await this.#parts.existence.knows(organizationId, channelId))) return;
    await this.#parts.alarm.standing();
    if (!this.#isReady()) return;
    this.#parts.feed.commit(() => {
      const note = this.#parts.channels.reportHealth(channelId, health);
      if (note) this.#parts.feed.append("channel.health", note, null, Date.now());
    });
  }

  /** Stores a key's counts. @throws if the object is empty and D1 does not answer */
  async reportKey(organizationId: string, keyId: string, counts: RequestCounts): Promise<void> {
    if (await this.#parts.existence.exists(organizationId)) this.#parts.keys.report(keyId, counts, Date.now());
  }

  /** Removes the numbers of deleted keys. */
  forgetKeys(ids: string[]): void {
    if (this.#isReady()) this.#parts.keys.remove(ids);
  }

  /** The numbers of channels, keys and members. */
  numbers(channelIds: string[], keyIds: string[], memberIds: string[] = []): OrganizationNumbers {
    if (!this.#isReady()) return { channels: [], keys: [] };
    const { channels, keys, memberNumbers } = this.#parts;
    return {
      channels: channels.numbers(channelIds),
      keys: keys.numbers(keyIds),
      members: memberNumbers.numbers(memberIds),
    };
  }

  /** The numbers of a label's chats; null if there is no such label. Apart from `numbers`: an earlier version would ignore it. */
  labelNumbers(id: string): LabelNumbers | null {
    return this.#isReady() ? labelNumbers(this.ctx.storage.sql, this.#parts.labels, id) : null;
  }

  /** What monitoring reads; null before the organization has any. @see metricsOf */
  metrics(keyIds: string[]): OrganizationMetrics | null {
    return this.#isReady() ? metricsOf(this.#parts, keyIds, Date.now()) : null;
  }

  /** The history of a channel, a key or a member; null if it has none. */
  history(id: string): History | null {
    if (!this.#isReady()) return null;
    const { channels, keys, memberNumbers } = this.#parts;
    return channels.history(id) ?? keys.history(id) ?? memberNumbers.history(id);
  }

  /** The operator changed a name, a limit or a retention. @throws if D1 does not answer */
  async refresh(): Promise<void> {
    await this.#parts.alarm.standing();
    if (this.#isReady()) await this.#parts.settings.read(this.#parts.existence.id ?? "", () => this.#isReady());
  }

  /** The webhooks changed. From then on, chats learn of them with their next report. @throws if D1 does not answer */
  async refreshWebhooks(organizationId: string): Promise<void> {
    if (await this.#parts.existence.exists(organizationId)) await this.refresh();
  }

  /**
   * Deletes a chat: first from the lists, then its object, then its addresses. If a step fails, the alarm repeats it.
   * @returns the chat as it was; null if there is no such chat
   */
  async deleteChat(chatId: string): Promise<Chat | null> {
    const row = this.#isReady() ? this.#parts.chats.get(chatId) : undefined;
    const channel = row && this.#parts.channels.get(row.channel_id);
    if (!channel) return null;
    this.#parts.chats.beginDeletion(row);
    this.#parts.list.changed();
    await this.#parts.alarm.by(Date.now() + AGAIN_AFTER_MS);
    await this.#parts.deletions.finish(row);
    return presentChat(row, channel, this.#parts.labels);
  }

  /** An empty chat has deleted itself. Repeating the call changes nothing. */
  chatGone(chatId: string, life: number): void {
    if (this.#isReady() && this.#parts.deletions.gone(chatId, life)) this.#parts.list.changed();
  }

  /** Closes a channel permanently: it takes no chat, and its chats are off the lists. */
  async closeChannel(organizationId: string, channelId: string): Promise<void> {
    if (!(await this.#parts.existence.knows(organizationId, channelId))) return;
    this.#parts.channels.close(channelId);
    this.#parts.list.changed();
    await this.#parts.alarm.by(Date.now() + AGAIN_AFTER_MS);
  }

  /** Closes all channels. */
  async close(): Promise<void> {
    this.#parts.existence.closed();
    this.#parts.members.forget();
    if (!this.#isReady()) return;
    this.#parts.channels.closeAll();
    this.#parts.list.changed();
    await this.#parts.alarm.by(Date.now() + AGAIN_AFTER_MS);
  }

  /** The labels of chats, the oldest first. */
  labels(): Label[] {
    return this.#isReady() ? this.#parts.labels.list() : [];
  }

  /** Those of these ids that are the organization's labels. */
  labelsAmong(ids: string[]): string[] {
    return this.#isReady() ? this.#parts.labels.among(ids) : [];
  }

  /** Adds a label. The audit log has the act already, so the object is empty only once the organization was deleted. */
  addLabel(label: Omit<Label, "chats">): LabelAnswer {
    return this.#isReady() ? this.#parts.labels.add(label, Date.now()) : { outcome: "no_organization" };
  }

  changeLabel(id: string, change: LabelChange): LabelAnswer {
    return this.#isReady() ? this.#parts.labels.change(id, change) : { outcome: "label_not_found" };
  }

  /** Deletes a label. The alarm removes its rows. @param isRepeat an earlier call may have deleted it */
  async deleteLabel(id: string, isRepeat: boolean): Promise<LabelAnswer> {
    await this.#parts.alarm.standing();
    if (!this.#isReady()) return { outcome: "label_not_found" };
    const answer = this.#parts.labels.remove(id, isRepeat, Date.now());
    await this.#parts.alarm.by(this.#parts.labels.dueAt());
    return answer;
  }

  /** Turns the search over all messages on or off. @throws if D1 does not answer */
  async setSearch(organizationId: string, isOn: boolean): Promise<SearchAnswer> {
    if (!(await this.#parts.existence.exists(organizationId))) return { outcome: "no_organization" };
    await this.#parts.alarm.standing();
    if (!this.#isReady()) return { outcome: "no_organization" };
    const { searchIndexes, searchFill } = this.#parts;
    const isAllowed = !isOn || searchIndexes.turnOn(searchFill.countChats(), Date.now());
    if (!isOn) searchIndexes.turnOff();
    await this.#parts.due.standBy();
    return { outcome: isAllowed ? "ok" : "filled_today", search: searchIndexes.state() };
  }

  searchState(): SearchState {
    return this.#isReady() ? this.#parts.searchIndexes.state() : { state: "off", done: 0, total: 0 };
  }

  /** The numbers of the indexes that a search asks, the newest first; null while the search is off. */
  searchNumbers(): number[] | null {
    const { searchIndexes } = this.#parts;
    return this.#isReady() && searchIndexes.targets().isOn ? searchIndexes.numbers() : null;
  }

  /** A chat found an index full. @returns where chats put their messages from now on */
  searchIndexFull(number: number): SearchTargets | undefined {
    return this.#isReady() ? this.#parts.searchIndexes.full(number) : undefined;
  }

  /** Those of some chats that a search may show, and only with an assignee or in a channel if the filter says so. */
  chatsFound(ids: string[], { channel, assignee }: Pick<ChatFilter, "channel" | "assignee">): FoundChat[] {
    return ids.flatMap((id) => {
      const chat = this.find(id);
      const isOfChannel = channel === undefined || channel === chat?.channel.id || channel === chat?.channel.kind;
      const isAssigned = assignee === undefined || assignee === chat?.assigneeId;
      return chat && isOfChannel && isAssigned ? { id, channel: chat.channel, contact: chat.contact } : [];
    });
  }

  /** Erases the search indexes, before the object itself. Repeating it changes nothing. @throws if one can't be erased */
  async eraseSearch(): Promise<void> {
    if (this.#isReady()) await this.#parts.searchCleanup.eraseAll();
  }

  /** Deletes chats of closed channels. @see Deletions.deleteClosed */
  async deleteClosed(limit: number): Promise<number> {
    return this.#isReady() ? this.#parts.deletions.deleteClosed(limit) : 0;
  }

  async erase(): Promise<void> {
    const gone = this.ctx.storage.deleteAll();
    // Before the first await: a call that comes meanwhile must find nothing.
    this.#parts.due.forget();
    await gone;
  }

  /** Does what is due: events, interrupted creations and deletions, retention, the audit log's purge. */
  override async alarm(invocation?: AlarmInvocationInfo): Promise<void> {
    if (this.#isReady()) await this.#parts.due.ring(invocation);
    else this.#parts.alarm.gone();
  }

  /** The cron trigger calls all organizations in turn; see `Overdue`. */
  async checkAlarms(): Promise<void> {
    if (this.#isReady()) await this.#parts.overdue.check();
  }

  #refreshIfOld(): void {
    const { settings, existence } = this.#parts;
    if (settings.isOld) this.ctx.waitUntil(settings.readLater(existence.id ?? "", () => this.#isReady()));
  }

  #isReady(): boolean {
    return this.#parts.isReady();
  }

  /** A chat that is not being deleted. */
  #visible(chatId: string): ChatRow | undefined {
    const row = this.#isReady() ? this.#parts.chats.get(chatId) : undefined;
    return row?.state === "deleting" ? undefined : row;
  }

  /** The member of a session; null if the session has ended. @see MemberRecords.find */
  member(organizationId: string, session: MemberSession): Promise<MemberRecord | null> {
    return this.#parts.members.find(organizationId, session);
  }

  /** A change of members begins. @param leaving the member that it removes @see MemberRecords.begin */
  async beginMemberChange(organizationId: string, change: string, leaving?: string): Promise<void> {
    if ((await this.#parts.members.begin(organizationId, change)) && leaving !== undefined)
      this.#parts.freed.leaving(leaving);
  }

  /** A change of members ended. @param left the member that it removed @see MemberRecords.end */
  endMemberChange(change: string, ended: { memberId: string; since: number } | null, left?: string): void {
    if (this.#parts.members.end(change, ended) && left !== undefined) this.#parts.freed.left(left);
  }

  /** Ends one session of a member. @see MemberRecords.endSession */
  endSession(organizationId: string, session: MemberSession, until: number): Promise<void> {
    return this.#parts.members.endSession(organizationId, session, until);
  }

  beginAct(organizationId: string, act: NewAct): Promise<BeginAnswer> {
    return this.#parts.audit.begin(organizationId, act);
  }

  endAct(id: string, end: ActEnd): void {
    this.#parts.audit.end(id, end);
  }

  /** Acts have ended that the log does not know. @see AuditLog.store */
  storeActs(organizationId: string, acts: EndedAct[]): Promise<void> {
    return this.#parts.audit.store(organizationId, acts);
  }

  acts(filter: ActFilter, before: string | null, limit: number): ActPage | null {
    return this.#parts.audit.page(filter, before, limit);
  }
}
