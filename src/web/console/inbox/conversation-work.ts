import { type Chat, ParleyError } from "../api.ts";
import type { Api } from "../api-client.ts";
import { may } from "../session.ts";
import type { WorkChanges } from "./restore-work.ts";

/** What says where the work on a chat stands. */
const WORK_FIELDS = ["state", "snoozedUntil", "handler"] as const satisfies (keyof Chat)[];

/** The conversation whose work it is. */
interface Conversation {
  chat: { value: Chat | null };
  /** The newest `seq` before the first message that the person may not know. */
  knownUpTo: () => number;
  /** Loads the messages and the chat as they are now. */
  reload: () => Promise<void>;
  /** Takes what a call changes from its answer. @throws ParleyError */
  change: (fields: readonly string[], call: Promise<{ chat: Chat }>) => Promise<void>;
}

/** Hands a chat to people or to the channel's bot. @throws ParleyError `no_bot` if the channel has none */
export function handOver(api: Api, id: string, to: Chat["handler"]): Promise<{ chat: Chat }> {
  const header = { "Idempotency-Key": crypto.randomUUID() };
  return api.POST("/chats/{id}/handover", { path: { id }, header, body: { to } });
}

/** The work on one open chat. What the person may not know of is not closed, snoozed or marked as answered. */
export class ConversationWork implements WorkChanges {
  readonly #api: Api;
  readonly #path: { id: string };
  readonly #of: Conversation;

  constructor(api: Api, id: string, of: Conversation) {
    this.#api = api;
    this.#path = { id };
    this.#of = of;
  }

  now(): Chat | null {
    return this.#of.chat.value;
  }

  /** Marks the chat as answered without an answer. @throws ParleyError as `setState` */
  async markAnswered(): Promise<void> {
    const call = this.#api.POST("/chats/{id}/answered", { path: this.#path, body: this.#ifSeq() });
    await this.#change(["unansweredSince"], call);
  }

  /** Takes `markAnswered` back, and opens the chat. @throws ParleyError `nothing_unanswered` if somebody has answered since */
  async markUnanswered(): Promise<void> {
    const call = this.#api.DELETE("/chats/{id}/answered", { path: this.#path });
    await this.#of.change(["unansweredSince", ...WORK_FIELDS], call);
  }

  /**
   * Opens, snoozes or closes the chat.
   * @param snoozedUntil RFC 3339; null unless it is snoozed
   * @throws ParleyError `chat_moved_on` if the chat has messages that the person has not seen. It shows them by then
   */
  async setState(state: Chat["state"], snoozedUntil: string | null = null): Promise<void> {
    const body = { state, snoozedUntil, ...this.#ifSeq() };
    await this.#change(["unansweredSince", ...WORK_FIELDS], this.#api.PATCH("/chats/{id}", { path: this.#path, body }));
  }

  /** Hands the chat to people or to the channel's bot. @throws ParleyError `no_bot` if the channel has none */
  async handOver(to: Chat["handler"]): Promise<void> {
    await this.#of.change(["unansweredSince", ...WORK_FIELDS], handOver(this.#api, this.#path.id, to));
  }

  #ifSeq(): { ifSeq?: number } {
    // Who may not read messages does not know the newest one.
    return may("messages:read") ? { ifSeq: this.#of.knownUpTo() } : {};
  }

  async #change(fields: readonly string[], call: Promise<{ chat: Chat }>): Promise<void> {
    try {
      await this.#of.change(fields, call);
    } catch (error) {
      if (!(error instanceof ParleyError && error.code === "chat_moved_on")) throw error;
      await this.#of.reload();
      const { status, code } = error;
      throw new ParleyError("There are newer messages. Read them, and try again.", { status, code, cause: error });
    }
  }
}
