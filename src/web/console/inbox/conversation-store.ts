import { computed, type Signal, signal } from "@preact/signals";
import type { FollowedEvent } from "../../../client/event.ts";
import { asParleyError, type Chat, type Message, ParleyError, type Schemas } from "../api.ts";
import type { Api } from "../api-client.ts";
import { holdKeys } from "../held-keys.ts";
import type { Note } from "../notes/notes-store.ts";
import { may } from "../session.ts";
import { afterEvent, afterMessage, newestActivity } from "./chat-rows.ts";
import { ConversationWork } from "./conversation-work.ts";
import { answeredIn, type Draft, draftIn } from "./drafts.ts";
import { KnownMessages } from "./known-messages.ts";
import { isInReach, merged, newestSeq, reloaded, tapsOf } from "./timeline.ts";

const PAGE = 50;
/** People without events ask every few seconds. Old messages seldom change. */
const REFRESH_MS = 30_000;

/** One open chat with its messages. */
export class ConversationStore {
  readonly chat = signal<Chat | null>(null);
  readonly messages = signal<Message[]>([]);
  readonly byId = computed(() => new Map(this.messages.value.map((message) => [message.id, message])));
  /** The title of the choice that the contact tapped, by the message that offered it. */
  readonly taps = computed(() => tapsOf(this.messages.value));
  readonly state = signal<"loading" | "ready" | "gone">("loading");
  readonly error = signal<ParleyError | null>(null);
  readonly hasOlder = signal(false);
  readonly isLoadingOlder = signal(false);
  /** The message that the next one answers. */
  readonly answered: Signal<Message | null>;
  /** The id of the draft that the text is. */
  readonly draftId: Signal<string | null>;
  /** The draft that the composer is to send, or to take as its text. */
  readonly drafted = signal<{ note: Note; isSent: boolean } | null>(null);
  /** What the person writes. Each time that they begin, its text box takes the keys. */
  readonly writing = signal({ isNote: false, begins: 0 });
  /** The reactions that the network has not taken yet, by message. A null takes one back. */
  readonly reacting = signal<ReadonlyMap<string, string | null>>(new Map());
  /** Counts what was sent from here. */
  readonly sends = signal(0);
  readonly known = new KnownMessages();
  readonly work: ConversationWork;
  /** Whether a screen shows the conversation, so that its text box can take the keys. */
  isShown = false;
  /** The channel has said that it can't show what was read. */
  hasNoReadMarks = false;
  readonly #api: Api;
  readonly #path: { id: string };
  readonly #onChat: (chat: Chat) => void;
  readonly #underWay = new Set<string>();
  /** When all pages were loaded again, Unix milliseconds. */
  #refreshedAt = 0;
  /** What changed the chat while a load is under way, for each load. Its answer need not show it. */
  readonly #meanwhile = new Set<((chat: Chat) => Chat)[]>();

  /** @param known the chat, if the list has it already; then it is not asked for again */
  constructor(api: Api, id: string, known: Chat | null, onChat: (chat: Chat) => void) {
    this.#api = api;
    this.#path = { id };
    this.#onChat = onChat;
    this.chat.value = known;
    this.answered = answeredIn(id);
    this.draftId = draftIn(id);
    this.work = new ConversationWork(api, id, {
      chat: this.chat,
      knownUpTo: () => this.known.upTo(this.messages.value, this.newestSeq()),
      reload: () => this.load(null),
      change: (fields, call) => this.#change(fields, call),
    });
  }

  /**
   * Loads the newest messages and those that are scheduled, and asks what the chat is now.
   * @param known the chat, if the list has just said what it is: by default, the first time. But a chat that waits is asked
   *   for: a colleague may have marked it as answered, which the list does not hear of
   */
  async load(
    known = this.state.value === "ready" || this.chat.value?.unansweredSince ? null : this.chat.value,
  ): Promise<void> {
    const isFirst = this.state.value !== "ready";
    const before = this.messages.value;
    const meanwhile: ((chat: Chat) => Chat)[] = [];
    this.#meanwhile.add(meanwhile);
    try {
      const [page, { chat }] = await Promise.all([
        // Who may not read messages sees the chat without them.
        may("messages:read") ? this.#page() : { messages: [], pagination: { hasMore: false } },
        known ? { chat: known } : this.#api.GET("/chats/{id}", { path: this.#path }),
      ]);
      const isScheduled = chat.nextScheduledAt !== null && may("messages:read");
      const scheduled = isScheduled ? await this.#scheduled() : [];
      const { hasMore } = page.pagination;
      const { messages, isGap } = reloaded(before, this.messages.value, { page: page.messages, hasMore, scheduled });
      this.messages.value = messages;
      if (isFirst || isGap) this.hasOlder.value = hasMore;
      this.state.value = "ready";
      this.error.value = null;
      if (!known) this.#setChat({ chat: meanwhile.reduce((now, change) => change(now), chat) });
      if (!isFirst && !isGap) await this.#refreshOlder(page.messages.at(-1));
    } catch (error) {
      const cause = asParleyError(error);
      this.error.value = cause;
      if (cause.status === 404) this.state.value = "gone";
    } finally {
      this.#meanwhile.delete(meanwhile);
    }
  }

  /** Loads the pages before the newest one again, of those that are shown: what changed in them may be in no event. */
  async #refreshOlder(last: Message | undefined): Promise<void> {
    if (Date.now() - this.#refreshedAt < REFRESH_MS) return;
    this.#refreshedAt = Date.now();
    let before = last;
    while (before && this.#hasBefore(before)) {
      const { messages } = await this.#page({ before: before.id });
      this.messages.value = merged(this.messages.value, messages);
      before = messages.at(-1);
    }
  }

  /** Loads the page before the oldest message. */
  async older(): Promise<void> {
    const placed = this.messages.value.filter(({ seq }) => seq !== null);
    const oldest = placed.reduce<Message | null>(
      (least, one) => ((one.seq ?? 0) < (least?.seq ?? Infinity) ? one : least),
      null,
    );
    if (!oldest || this.isLoadingOlder.value) return;
    this.isLoadingOlder.value = true;
    try {
      const page = await this.#page({ before: oldest.id });
      this.messages.value = merged(this.messages.value, page.messages);
      this.hasOlder.value = page.pagination.hasMore;
    } catch (error) {
      this.error.value = asParleyError(error);
    } finally {
      this.isLoadingOlder.value = false;
    }
  }

  /**
   * The messages whose text has these words, newest first.
   * @param next where the page begins; null for the first one
   * @throws ParleyError
   */
  async search(words: string, next: string | null, signal?: AbortSignal) {
    const query = { search: words, limit: PAGE, ...(next !== null && { before: next }) };
    const path = this.#path;
    const { messages, pagination } = await this.#api.GET("/chats/{id}/messages", { path, query, signal });
    return { messages, next: "cursor" in pagination && pagination.hasMore ? String(pagination.cursor) : null };
  }

  /** Loads older pages until what is wanted is there. @returns whether it is */
  async reach(isThere: () => boolean): Promise<boolean> {
    while (!isThere() && this.hasOlder.value) {
      const known = this.messages.value.length;
      await this.older();
      // The load failed, and the conversation says why.
      if (this.messages.value.length === known) break;
    }
    return isThere();
  }

  /** Says that something could not be loaded. */
  readonly failed = (error: unknown): void => {
    this.error.value = asParleyError(error);
  };

  /** Takes what happened in any chat. */
  take(event: FollowedEvent): void {
    if (event.chatId !== this.#path.id) return;
    if (event.type === "chat.deleted") {
      this.state.value = "gone";
      return;
    }
    const { message } = event.data;
    if (message && (!this.hasOlder.value || isInReach(this.messages.value, message)))
      this.messages.value = merged(this.messages.value, [message]);
    this.#hear((chat) => afterEvent(chat, event));
    if (this.chat.value) this.chat.value = afterEvent(this.chat.value, event);
  }

  /** The person begins a message, or goes on with it. @param answered what it answers; null leaves the choice as it is */
  write(answered: Message | null = null): void {
    if (answered) this.answered.value = answered;
    this.#begin(false);
  }

  /** The person begins a note, or goes on with it. */
  writeNote(): void {
    this.#begin(true);
  }

  /** The person goes on with what they write. */
  goOn(): void {
    this.#begin(this.writing.value.isNote);
  }

  /** The person closes the note. Keys that follow must not be written to the contact. */
  closeNote(): void {
    this.writing.value = { ...this.writing.value, isNote: false };
  }

  #begin(isNote: boolean): void {
    if (!isNote && !may("messages:send")) return;
    if (this.isShown) holdKeys();
    this.writing.value = { isNote, begins: this.writing.value.begins + 1 };
  }

  /**
   * Sends a message. The same key sends it once, however often the call is repeated.
   * @throws ParleyError; `chat_moved_on` if the chat has newer messages than `ifSeq`
   */
  async send(body: Draft, idempotencyKey: string): Promise<Message> {
    const header = { "Idempotency-Key": idempotencyKey };
    const message = this.#took(await this.#api.POST("/chats/{id}/messages", { path: this.#path, header, body }));
    this.sends.value++;
    return message;
  }

  /** Takes a message back. @throws ParleyError `not_cancelable` if it is on its way */
  async cancel(messageId: string): Promise<Message> {
    return this.#took(await this.#api.POST("/chats/{id}/messages/{messageId}/cancel", this.#at(messageId)));
  }

  /** Sends a failed message again, as a new one. */
  async resend(messageId: string): Promise<Message> {
    const call = this.#api.POST("/chats/{id}/messages/{messageId}/resend", { ...this.#at(messageId), body: {} });
    return this.#took(await call);
  }

  /** Changes when a scheduled message is sent. @param scheduledAt RFC 3339; null for now */
  async move(messageId: string, scheduledAt: string | null): Promise<Message> {
    return this.#took(
      await this.#api.PATCH("/chats/{id}/messages/{messageId}", { ...this.#at(messageId), body: { scheduledAt } }),
    );
  }

  /** Blanks a message permanently. */
  async redact(messageId: string): Promise<Message> {
    return this.#took(await this.#api.POST("/chats/{id}/messages/{messageId}/redact", this.#at(messageId)));
  }

  /** Reacts to a message in the organization's name; null takes the reaction back. @throws ParleyError */
  async react(messageId: string, emoji: string | null): Promise<void> {
    const { path } = this.#at(messageId);
    const route = "/chats/{id}/messages/{messageId}/reaction";
    this.reacting.value = new Map(this.reacting.value).set(messageId, emoji);
    try {
      const call = emoji === null ? this.#api.DELETE(route, { path }) : this.#api.PUT(route, { path, body: { emoji } });
      const { message } = await call;
      // Else the answer does not say what the message says.
      if (may("messages:read")) this.#took({ message });
    } finally {
      const left = new Map(this.reacting.value);
      left.delete(messageId);
      this.reacting.value = left;
    }
  }

  /** Tells the contact that the messages up to this one were read. @throws ParleyError also if the channel can't */
  async markRead(messageId: string): Promise<void> {
    await this.#api.POST("/chats/{id}/read", { path: this.#path, body: { messageId } });
  }

  /** Does an act of a key, unless the same act is under way: a key that is pressed twice acts once. */
  async once(act: string, work: () => Promise<void>): Promise<void> {
    if (this.#underWay.has(act)) return;
    this.#underWay.add(act);
    await work().finally(() => this.#underWay.delete(act));
  }

  /** Gives the chat a label, or takes it off. @throws ParleyError */
  async label(labelId: string, isGiven: boolean): Promise<void> {
    const route = "/chats/{id}/labels/{labelId}";
    const path = { ...this.#path, labelId };
    await this.#change(["labels"], isGiven ? this.#api.PUT(route, { path }) : this.#api.DELETE(route, { path }));
  }

  /** Changes the contact's name or the metadata. A null removes a pair. */
  async change(body: Schemas["ChatPatch"]): Promise<void> {
    await this.#change(Object.keys(body), this.#api.PATCH("/chats/{id}", { path: this.#path, body }));
  }

  /**
   * Assigns the chat to a member, or unassigns it, unless somebody else did so meanwhile: then the person sees the new
   * state and decides again.
   * @param ifAssigneeId the assignee that the chat must have: the one that the person sees
   * @returns whether it was assigned
   * @throws ParleyError
   */
  async assign(assigneeId: string | null, ifAssigneeId: string | null): Promise<boolean> {
    try {
      await this.change({ assigneeId, ifAssigneeId });
      return true;
    } catch (error) {
      // What the list said may be the reason.
      await this.load(null);
      if (!(error instanceof ParleyError && error.code === "chat_reassigned")) throw error;
      return false;
    }
  }

  /**
   * Assigns an unassigned chat to its writer. If somebody else has taken it meanwhile, it stays theirs.
   * @param takesFor the id of the writer; null if the chat stays unassigned
   */
  async takeIfFree(takesFor: () => Promise<string | null>): Promise<void> {
    if (this.chat.value?.assigneeId !== null) return;
    const assigneeId = await takesFor();
    if (assigneeId !== null) await this.assign(assigneeId, null);
  }

  /** The `seq` from which on messages are shown; 0 from the first one on. */
  shownFrom(): number {
    if (!this.hasOlder.value) return 0;
    return this.messages.value.reduce((least, { seq }) => Math.min(least, seq ?? Infinity), Infinity);
  }

  /** The newest `seq` that the reader can have seen: in the list's row, until the messages are here. */
  newestSeq(): number {
    const inRow = this.state.value === "loading" ? (this.chat.value?.lastMessage?.seq ?? 0) : 0;
    return Math.max(newestSeq(this.messages.value), inRow);
  }

  #hasBefore({ seq }: Message): boolean {
    return this.messages.value.some((one) => one.seq !== null && one.seq < (seq ?? 0));
  }

  #at(messageId: string) {
    return { path: { ...this.#path, messageId } };
  }

  #page(query: { before?: string } = {}) {
    return this.#api.GET("/chats/{id}/messages", { path: this.#path, query: { limit: PAGE, ...query } });
  }

  async #scheduled(): Promise<Message[]> {
    return (await this.#api.GET("/chats/{id}/scheduled", { path: this.#path, query: { limit: 100 } })).messages;
  }

  #took({ message }: { message: Message }): Message {
    this.known.acted(message.id);
    this.messages.value = merged(this.messages.value, [message]);
    if (this.chat.value) this.#setChat({ chat: afterMessage(this.chat.value, message) });
    return message;
  }

  /**
   * Takes from the answer of a call what the call changed. The rest may have changed since.
   * @param fields what the call changes
   */
  async #change(fields: readonly string[], call: Promise<{ chat: Chat }>): Promise<void> {
    const { chat } = await call;
    // A conversation that was left no longer follows what happens, so there the answer is newer.
    const known = (this.isShown && this.chat.value) || chat;
    const answer = Object.entries({ ...chat, ...newestActivity(chat, known) });
    const changed = Object.fromEntries(answer.filter(([field]) => fields.includes(field)));
    this.#hear((now) => ({ ...now, ...changed }));
    this.#setChat({ chat: { ...known, ...changed } });
  }

  #hear(change: (chat: Chat) => Chat): void {
    for (const changes of this.#meanwhile) changes.push(change);
  }

  #setChat({ chat }: { chat: Chat }): void {
    this.chat.value = chat;
    this.#onChat(chat);
  }
}
