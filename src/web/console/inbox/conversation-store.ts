import { batch, signal } from "@preact/signals";
import type { FollowedEvent } from "../../../client/event.ts";
import type { Chat, Message, ParleyError, Schemas } from "../api.ts";
import type { Api } from "../api-client.ts";
import { asParleyError } from "../resource.ts";
import { afterEvent, afterMessage } from "./chat-rows.ts";
import { merged, newestSeq } from "./timeline.ts";

const PAGE = 50;

/** What a person sends. */
export type Draft = Pick<
  Schemas["NewMessage"],
  "content" | "type" | "senderId" | "templateId" | "variables" | "scheduledAt" | "expiresAt" | "ifSeq"
>;

/** One open chat with its messages. */
export class ConversationStore {
  readonly chat = signal<Chat | null>(null);
  readonly messages = signal<Message[]>([]);
  readonly state = signal<"loading" | "ready" | "gone">("loading");
  readonly error = signal<ParleyError | null>(null);
  readonly hasOlder = signal(false);
  readonly #api: Api;
  readonly #id: string;
  readonly #onChat: (chat: Chat) => void;
  #isLoadingOlder = false;

  /** @param known the chat, if the list has it already; then it is not asked for again */
  constructor(api: Api, id: string, known: Chat | null, onChat: (chat: Chat) => void) {
    this.#api = api;
    this.#id = id;
    this.#onChat = onChat;
    this.chat.value = known;
  }

  /** Loads the newest messages, and those that are scheduled. At most two requests for a chat of the list. */
  async load(): Promise<void> {
    const path = { id: this.#id };
    try {
      const [page, chat] = await Promise.all([
        this.#api.GET("/chats/{id}/messages", { path, query: { limit: PAGE } }),
        this.chat.value ?? this.#api.GET("/chats/{id}", { path }).then((answer) => answer.chat),
      ]);
      const scheduled = chat.nextScheduledAt === null ? [] : await this.#scheduled();
      batch(() => {
        this.chat.value ??= chat;
        this.messages.value = merged(this.messages.value, [...page.messages, ...scheduled]);
        if (this.state.value !== "ready") this.hasOlder.value = page.pagination.hasMore;
        this.state.value = "ready";
        this.error.value = null;
      });
    } catch (error) {
      const cause = asParleyError(error);
      batch(() => {
        this.error.value = cause;
        if (cause.status === 404) this.state.value = "gone";
      });
    }
  }

  /** Loads what came meanwhile, and asks what the chat is now. */
  async refresh(): Promise<void> {
    if (this.state.value !== "ready") return this.load();
    const path = { id: this.#id };
    try {
      const [page, { chat }] = await Promise.all([
        this.#api.GET("/chats/{id}/messages", { path, query: { limit: PAGE } }),
        this.#api.GET("/chats/{id}", { path }),
      ]);
      const seqs = page.messages.map(({ seq }) => seq ?? 0);
      const isGap = page.pagination.hasMore && Math.min(...seqs) > newestSeq(this.messages.value) + 1;
      const scheduled = chat.nextScheduledAt === null ? [] : await this.#scheduled();
      const unscheduled = this.messages.value.filter(({ status }) => status !== "SCHEDULED");
      batch(() => {
        // After a long absence only the newest page is known. The rest is loaded when the reader gets there.
        this.messages.value = merged(isGap ? [] : unscheduled, [...page.messages, ...scheduled]);
        if (isGap) this.hasOlder.value = true;
        this.error.value = null;
      });
      this.#setChat(chat);
    } catch (error) {
      const cause = asParleyError(error);
      this.error.value = cause;
      if (cause.status === 404) this.state.value = "gone";
    }
  }

  /** Loads the page before the oldest message. */
  async older(): Promise<void> {
    const placed = this.messages.value.filter(({ seq }) => seq !== null);
    const oldest = placed.reduce<Message | null>(
      (least, one) => ((one.seq ?? 0) < (least?.seq ?? Infinity) ? one : least),
      null,
    );
    if (!oldest || this.#isLoadingOlder) return;
    this.#isLoadingOlder = true;
    try {
      const query = { limit: PAGE, before: oldest.id };
      const page = await this.#api.GET("/chats/{id}/messages", { path: { id: this.#id }, query });
      batch(() => {
        this.messages.value = merged(this.messages.value, page.messages);
        this.hasOlder.value = page.pagination.hasMore;
      });
    } catch (error) {
      this.error.value = asParleyError(error);
    } finally {
      this.#isLoadingOlder = false;
    }
  }

  /** Takes what happened in any chat. */
  take(event: FollowedEvent): void {
    if (event.chatId !== this.#id) return;
    if (event.type === "chat.deleted") {
      this.state.value = "gone";
      return;
    }
    const { message } = event.data;
    if (message) this.messages.value = merged(this.messages.value, [message]);
    if (this.chat.value) this.chat.value = afterEvent(this.chat.value, event);
  }

  /**
   * Sends a message. The same key sends it once, however often the call is repeated.
   * @throws ParleyError; `chat_moved_on` if the chat has newer messages than `ifSeq`
   */
  async send(draft: Draft, idempotencyKey: string): Promise<Message> {
    const header = { "Idempotency-Key": idempotencyKey };
    return this.#took(
      (await this.#api.POST("/chats/{id}/messages", { path: { id: this.#id }, header, body: draft })).message,
    );
  }

  /** Takes a message back. @throws ParleyError `not_cancelable` if it is on its way */
  async cancel(messageId: string): Promise<Message> {
    const path = { id: this.#id, messageId };
    return this.#took((await this.#api.POST("/chats/{id}/messages/{messageId}/cancel", { path })).message);
  }

  /** Sends a failed message again, as a new one. */
  async resend(messageId: string, senderId: string | null): Promise<Message> {
    const path = { id: this.#id, messageId };
    const body = senderId === null ? {} : { senderId };
    return this.#took((await this.#api.POST("/chats/{id}/messages/{messageId}/resend", { path, body })).message);
  }

  /** Changes when a scheduled message is sent. @param scheduledAt RFC 3339; null for now */
  async move(messageId: string, scheduledAt: string | null): Promise<Message> {
    const path = { id: this.#id, messageId };
    return this.#took(
      (await this.#api.PATCH("/chats/{id}/messages/{messageId}", { path, body: { scheduledAt } })).message,
    );
  }

  /** Blanks a message for good. */
  async redact(messageId: string): Promise<Message> {
    const path = { id: this.#id, messageId };
    return this.#took((await this.#api.POST("/chats/{id}/messages/{messageId}/redact", { path })).message);
  }

  /** Marks the chat as answered without an answer. */
  async markAnswered(): Promise<void> {
    const path = { id: this.#id };
    this.#setChat((await this.#api.POST("/chats/{id}/answered", { path })).chat);
  }

  /** Changes the contact's name or the metadata. A null removes a pair. */
  async change(body: Schemas["ChatPatch"]): Promise<void> {
    const path = { id: this.#id };
    this.#setChat((await this.#api.PATCH("/chats/{id}", { path, body })).chat);
  }

  /** The newest `seq` that the reader can have seen. */
  newestSeq(): number {
    return newestSeq(this.messages.value);
  }

  async #scheduled(): Promise<Message[]> {
    const answer = await this.#api.GET("/chats/{id}/scheduled", { path: { id: this.#id }, query: { limit: 100 } });
    return answer.messages;
  }

  #took(message: Message): Message {
    this.messages.value = merged(this.messages.value, [message]);
    if (this.chat.value) this.#setChat(afterMessage(this.chat.value, message));
    return message;
  }

  #setChat(chat: Chat): void {
    this.chat.value = chat;
    this.#onChat(chat);
  }
}
