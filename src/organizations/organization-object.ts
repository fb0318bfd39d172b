import type { Chat } from "../chats/chat.ts";
import type { ChatIdentity } from "../chats/identity.ts";
import type { ListAnswer } from "../chats/rpc.ts";
import type { EventFact, EventType } from "../events/event.ts";
import type { RequestCounts } from "../keys/key-stats.ts";
import { earliest, runParts, StandingAlarm } from "../platform/alarm.ts";
import { callObject } from "../platform/call-object.ts";
import type { EventRange } from "../webhooks/rpc.ts";
import { Adoptions } from "./adoptions.ts";
import { AuditLog } from "./audit-log.ts";
import { ChannelTable } from "./channel-table.ts";
import { ChatList } from "./chat-list.ts";
import { type ChatRow, ChatTable, identityOf, presentChat } from "./chat-table.ts";
import { ContactTable } from "./contact-table.ts";
import { Deletions } from "./deletions.ts";
import { Doorbells } from "./doorbells.ts";
import { Existence } from "./existence.ts";
import { Feed } from "./feed.ts";
import type { History } from "./history.ts";
import { type KeyNumbers, KeyTable } from "./key-table.ts";
import { MemberRecords } from "./member-records.ts";
import { openForContact } from "./opening.ts";
import { OwnLines } from "./own-lines.ts";
import { PeopleObject } from "./people-object.ts";
import { ReportPace } from "./report-pace.ts";
import { RetentionWalk } from "./retention-walk.ts";
import type {
  ChannelHealth,
  ChannelNumbers,
  ChatFilter,
  ChatPosition,
  ChatReport,
  ExportedChat,
  FeedAnswer,
  FeedPointer,
  OpenAnswer,
  OpenRequest,
  ReportAnswer,
  WaitingPosition,
} from "./rpc.ts";
import { Settings } from "./settings.ts";
import { UnreadableChats } from "./unreadable-chats.ts";

type EventNote = Record<string, unknown>;

const AGAIN_AFTER_MS = 30_000;
/** After a part of the alarm failed. */
const AFTER_FAILURE_MS = 5_000;

/**
 * One organization: which chats it has, whose addresses they are, when each was last active, and the numbers of its
 * channels and keys. It knows nothing that a chat, a channel or a key can't report again, except which chats there are.
 */
export class OrganizationObject extends PeopleObject {
  readonly #channels = new ChannelTable(this.ctx.storage.sql);
  readonly #doorbells = new Doorbells(this.ctx);
  readonly #feed = new Feed(this.ctx.storage, {
    onPointer: (chatId, last) => {
      this.#doorbells.ring(this.#feed.newest, chatId, last);
      if (chatId === null) this.#lines.onEvent();
    },
    standBy: (at) => this.ctx.waitUntil(this.#alarm.by(at)),
  });
  readonly #contacts = new ContactTable(this.ctx.storage);
  readonly #chats = new ChatTable(this.ctx.storage, this.#channels, this.#feed, this.#contacts);
  readonly #keys = new KeyTable(this.ctx.storage.sql);
  readonly #list = new ChatList(this.ctx.storage.sql, this.#channels, this.#contacts);
  readonly #settings = new Settings(this.env, this.ctx.storage, this.#channels, {
    namesChanged: () => this.#list.changed(),
    retentionChanged: (ids) => this.#retention.begin(ids),
    webhooksChanged: (list) => this.#lines.configure(list, this.#feed.newestOwn),
  });
  readonly #existence = new Existence(this.env, this.ctx.storage, this.#channels, this.#settings);
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  readonly #lines = new OwnLines({
    env: this.env,
    kv: this.ctx.storage.kv,
    sql: this.ctx.storage.sql,
    feed: this.#feed,
    alarm: this.#alarm,
    organizationId: () => this.#existence.id,
    waitUntil: (work) => this.ctx.waitUntil(work),
  });
  protected readonly members = new MemberRecords(this.env, this.ctx.storage, this.#existence);
  protected readonly audit = new AuditLog(this.ctx.storage.sql, this.#existence, this.#alarm);
  readonly #pace = new ReportPace();
  readonly #unreadable = new UnreadableChats(this.ctx.storage.sql);
  readonly #adoptions = new Adoptions(
    this.ctx.storage.sql,
    this.#chats,
    this.#channels,
    (row, channel) => {
      const identity = identityOf(this.#existence.id ?? "", channel, row);
      return callObject(this.env.CHATS, row.id, (chat) => chat.adopt(identity));
    },
    () => this.#isReady(),
  );
  readonly #deletions = new Deletions(
    this.ctx.storage.sql,
    this.#chats,
    this.#channels,
    ({ id, life }) => callObject(this.env.CHATS, id, (chat) => chat.erase(this.#existence.id ?? "", life)),
    () => this.#isReady(),
  );
  readonly #retention = new RetentionWalk(this.ctx.storage.sql, this.#channels, {
    isReady: () => this.#isReady(),
    standBy: (at) => this.ctx.waitUntil(this.#alarm.by(at)),
    tell: ({ id, life }, retention) =>
      callObject(this.env.CHATS, id, (chat) => chat.retain(this.#existence.id ?? "", life, retention)),
  });

  /** Creates the chat of a contact's address, or finds it. @throws if the channel is new and D1 does not answer */
  async open(request: OpenRequest): Promise<OpenAnswer> {
    if (!(await this.#existence.knows(request.organizationId, request.channelId))) return { outcome: "no_channel" };
    this.#refreshIfOld();
    await this.#alarm.standing();
    const tables = { channels: this.#channels, chats: this.#chats, settings: this.#settings };
    const { answer, adoptAt } = openForContact(tables, request, Date.now());
    if (answer.outcome === "opened" && answer.created) this.#list.changed();
    await this.#alarm.by(adoptAt);
    return answer;
  }

  /** A chat; null if there is none or it is being deleted. */
  find(chatId: string): Chat | null {
    const row = this.#visible(chatId);
    const channel = row && this.#channels.get(row.channel_id);
    return channel && !channel.isClosed ? presentChat(row, channel) : null;
  }

  /** The identity that a chat's object adopts; null if there is no such chat or it is being deleted. */
  identity(chatId: string): ChatIdentity | null {
    const row = this.#visible(chatId);
    const channel = row && this.#channels.get(row.channel_id);
    return this.#existence.id && channel && !channel.isClosed ? identityOf(this.#existence.id, channel, row) : null;
  }

  /** The id of the chat that an address leads to, or null. */
  findByAddress(channelId: string, address: string): string | null {
    return this.#isReady() ? (this.#chats.byAddress(channelId, [address])?.id ?? null) : null;
  }

  /** Adds addresses of a chat's contact, which lead to the chat from now on. A late call for a deleted chat does nothing. */
  addAddresses(chatId: string, life: number, addresses: string[]): void {
    const row = this.#visible(chatId);
    if (row?.life === life) this.#chats.learn(row, addresses);
  }

  /** A contact has a new address. @returns the id of the contact's chat, or null */
  addAddress(channelId: string, known: string, added: string): string | null {
    return this.#isReady() ? this.#chats.addAddress(channelId, known, added) : null;
  }

  /** A page of the chats; see `ChatList.read`. */
  list(
    filter: ChatFilter,
    position: ChatPosition | WaitingPosition,
    hasLastMessage: boolean,
    have?: string,
  ): ListAnswer | Promise<ListAnswer> {
    if (!this.#isReady()) return ChatList.empty(filter, position);
    this.#refreshIfOld();
    if (filter.search !== undefined && "after" in position) {
      if (!this.#contacts.isFilled()) this.ctx.waitUntil(this.#alarm.by(Date.now()));
      return this.#list.search(filter, position, hasLastMessage, this.#existence);
    }
    return this.#list.read(filter, position, hasLastMessage, have, this.#existence.id ?? "");
  }

  /** Chats for an export; see `ChatList.after`. */
  chatsAfter(id: string, limit: number, only: string | null): ExportedChat[] {
    return this.#isReady() ? this.#list.after(id, limit, only) : [];
  }

  /** Stores what a chat reports of itself. */
  report(report: ChatReport): ReportAnswer {
    const row = this.#visible(report.chatId);
    if (row?.life !== report.life) return { outcome: "unknown" };
    this.#refreshIfOld();
    const now = Date.now();
    const { webhooks } = this.#settings;
    const startAfter = this.#chats.report(row, report, webhooks.version !== (report.webhooks ?? ""), now);
    this.#list.changed();
    const { nextAfterMs, restMs, isCrowded } = this.#pace.next(now);
    return {
      outcome: "ok",
      number: Math.max(row.report, report.number),
      nextAfterMs,
      restMs,
      listeningForMs: isCrowded ? 0 : this.#doorbells.listeningForMs(now),
      retention: this.#channels.get(row.channel_id)?.retention,
      ...(startAfter !== null && { webhooks: { ...webhooks, startAfter } }),
    };
  }

  /** Opens a doorbell; see `Doorbells`. Only our Worker calls this. */
  override fetch(request: Request): Response {
    return this.#doorbells.accept(request);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#doorbells.onClose(socket);
  }

  /** Up to `limit` pointers to events after a position; see `Feed`. Null before the organization's first chat. */
  feed(after: number, limit: number): FeedAnswer | null {
    if (!this.#isReady()) return null;
    const page = this.#feed.read(after, limit);
    const unreadable = this.#unreadable.among(
      page.pointers.map(({ chatId }) => chatId),
      Date.now(),
    );
    return Object.keys(unreadable).length > 0 ? { ...page, unreadable } : page;
  }

  /** The object of a chat could not be read. @returns for how many milliseconds it can't; null if there is no such chat */
  chatUnreadable(chatId: string): number | null {
    return this.#visible(chatId) ? this.#unreadable.failed(chatId, Date.now()) : null;
  }

  /** The object of a chat that could not be read was read. */
  chatReadable(chatId: string): void {
    if (this.#isReady()) this.#unreadable.worked(chatId);
  }

  /** Up to `limit` pointers after a position that were reported from `since` to `until`, Unix milliseconds. */
  pointersBetween(since: number, until: number, after: number, limit: number): FeedPointer[] {
    return this.#isReady() ? this.#feed.between(since, until, after, limit) : [];
  }

  /** The organization's own events of a range, including both ends, and the life in their ids. */
  ownEvents(first: number, last: number): { life: string; events: EventFact[] } | null {
    return this.#isReady() ? { life: this.#feed.life, events: this.#feed.ownEvents(first, last) } : null;
  }

  /** A webhook's object tells an event. @param source a repeated call with the same source changes nothing */
  async webhookEvent(organizationId: string, type: EventType, note: EventNote, source: string): Promise<void> {
    if (!(await this.#existence.exists(organizationId))) return;
    await this.#alarm.standing();
    if (!this.#isReady()) return;
    this.#feed.commit(() => this.#feed.append(type, note, source, Date.now()));
  }

  /** A webhook's object can be called again. @see Lines.wake */
  wakeWebhook(webhookId: string, number: number, startedAt?: number, lineId?: string): Promise<number> {
    return this.#lines.wake(webhookId, number, startedAt, lineId);
  }

  /** Sends the organization's own events to a webhook again. @see Lines.replay */
  replayEvents(webhookId: string, replayId: string, ranges: EventRange[], lineId?: string): Promise<number> {
    return this.#lines.replay(webhookId, replayId, ranges, lineId);
  }

  /** Stores a channel's health. @throws if the channel is new here and D1 does not answer */
  async reportHealth(organizationId: string, channelId: string, health: ChannelHealth): Promise<void> {
    if (!(await this.#existence.knows(organizationId, channelId))) return;
    await this.#alarm.standing();
    if (!this.#isReady()) return;
    this.#feed.commit(() => {
      const note = this.#channels.reportHealth(channelId, health);
      if (note) this.#feed.append("channel.health", note, null, Date.now());
    });
  }

  /** Stores a key's counts. @throws if the object is empty and D1 does not answer */
  async reportKey(organizationId: string, keyId: string, counts: RequestCounts): Promise<void> {
    if (await this.#existence.exists(organizationId)) this.#keys.report(keyId, counts, Date.now());
  }

  /** Removes the numbers of deleted keys. */
  forgetKeys(ids: string[]): void {
    if (this.#isReady()) this.#keys.remove(ids);
  }

  /** The numbers of channels and keys. What has no numbers is left out. */
  numbers(channelIds: string[], keyIds: string[]): { channels: ChannelNumbers[]; keys: KeyNumbers[] } {
    if (!this.#isReady()) return { channels: [], keys: [] };
    return { channels: this.#channels.numbers(channelIds), keys: this.#keys.numbers(keyIds) };
  }

  /** The history of a channel or a key; null if it has none. */
  history(id: string): History | null {
    return this.#isReady() ? (this.#channels.history(id) ?? this.#keys.history(id)) : null;
  }

  /** The operator changed a name, a limit or a retention. @throws if D1 does not answer */
  async refresh(): Promise<void> {
    await this.#alarm.standing();
    if (this.#isReady()) await this.#settings.read(this.#existence.id ?? "", () => this.#isReady());
  }

  /** The webhooks changed. From then on, chats learn of them with their next report. @throws if D1 does not answer */
  async refreshWebhooks(organizationId: string): Promise<void> {
    if (await this.#existence.exists(organizationId)) await this.refresh();
  }

  /**
   * Deletes a chat: first from the lists, then its object, then its addresses. If a step fails, the alarm repeats it.
   * @returns the chat as it was; null if there is no such chat
   */
  async deleteChat(chatId: string): Promise<Chat | null> {
    const row = this.#isReady() ? this.#chats.get(chatId) : undefined;
    const channel = row && this.#channels.get(row.channel_id);
    if (!channel) return null;
    this.#chats.beginDeletion(row);
    this.#list.changed();
    await this.#alarm.by(Date.now() + AGAIN_AFTER_MS);
    await this.#deletions.finish(row);
    return presentChat(row, channel);
  }

  /** An empty chat has deleted itself. Repeating the call changes nothing. */
  chatGone(chatId: string, life: number): void {
    if (this.#isReady() && this.#deletions.gone(chatId, life)) this.#list.changed();
  }

  /** Closes a channel for good: it takes no chat, and its chats are off the lists. */
  async closeChannel(organizationId: string, channelId: string): Promise<void> {
    if (!(await this.#existence.knows(organizationId, channelId))) return;
    this.#channels.close(channelId);
    this.#list.changed();
    await this.#alarm.by(Date.now() + AGAIN_AFTER_MS);
  }

  /** Closes all channels. */
  async close(): Promise<void> {
    this.#existence.closed();
    this.members.forget();
    if (!this.#isReady()) return;
    this.#channels.closeAll();
    this.#list.changed();
    await this.#alarm.by(Date.now() + AGAIN_AFTER_MS);
  }

  /** Deletes chats of closed channels. @see Deletions.deleteClosed */
  async deleteClosed(limit: number): Promise<number> {
    return this.#isReady() ? this.#deletions.deleteClosed(limit) : 0;
  }

  /** Deletes all storage of the object. */
  async erase(): Promise<void> {
    const gone = this.ctx.storage.deleteAll();
    // Before the first await: a call that comes meanwhile must find nothing.
    this.#existence.forget();
    this.members.forget();
    this.#channels.forget();
    this.#contacts.forget();
    this.#feed.forget();
    this.#lines.forget();
    this.#doorbells.closeAll();
    this.#settings.forget();
    this.#unreadable.forget();
    this.#list.changed();
    this.#alarm.gone();
    await gone;
  }

  /**
   * Does what is due: events, interrupted creations and deletions, retention, the audit log's purge. None waits for
   * another, and each ends after some seconds. Never throws.
   */
  override async alarm(): Promise<void> {
    this.#alarm.gone();
    if (!this.#isReady()) return;
    await this.#alarm.set(Date.now() + AGAIN_AFTER_MS);
    const areDone = await runParts("organization", {
      events: () => this.#lines.start(),
      feed: () => this.#feed.purge(Date.now()),
      adoption: () => this.#adoptions.run(),
      deletion: () => this.#deletions.resume(),
      retention: () => this.#retention.step(Date.now()),
      contacts: () => this.#contacts.fill(() => this.#isReady()),
      audit: () => this.audit.purge(Date.now()),
    });
    if (!this.#isReady()) return;
    const now = Date.now();
    // What failed may be due still. If this fails too, the alarm that was set above rings.
    const notBefore = areDone ? 0 : now + AFTER_FAILURE_MS;
    await runParts("organization", { alarm: () => this.#alarm.set(this.#dueAt(now, notBefore)) });
  }

  /** When the alarm must ring, Unix milliseconds. Only what is asked now counts: any call may have made something due. */
  #dueAt(now: number, notBefore: number): number | null {
    const at = earliest([
      this.#lines.dueAt(now),
      this.#adoptions.dueAt(),
      this.#deletions.dueAt(now),
      this.#retention.dueAt(),
      this.#contacts.dueAt(now),
      this.#feed.dueAt(now),
      this.audit.dueAt(),
    ]);
    return at && Math.max(at, notBefore);
  }

  #refreshIfOld(): void {
    if (this.#settings.isOld)
      this.ctx.waitUntil(this.#settings.readLater(this.#existence.id ?? "", () => this.#isReady()));
  }

  /** Whether the object has its tables. Creates nothing. */
  #isReady(): boolean {
    return this.#existence.isReady();
  }

  /** A chat that is not being deleted. */
  #visible(chatId: string): ChatRow | undefined {
    const row = this.#isReady() ? this.#chats.get(chatId) : undefined;
    return row?.state === "deleting" ? undefined : row;
  }
}
