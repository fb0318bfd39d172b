import { NEARBY } from "../../../calls/call-object.ts";
import { type OpenedChat, openVisitorChat } from "../../../calls/open-visitor-chat.ts";
import type { ChatIdentity } from "../../../model/chat-answers.ts";
import type { Visitor } from "../../../model/visitor.ts";
import { causeOf } from "../../../platform/log.ts";
import { RETRY_AFTER_SECONDS, type RefusedFrame, refusedFrame, unavailableFrame } from "./frames.ts";

/** Opens a chat when its visitor writes for the first time. */
export class ChatOpener {
  readonly #env: Env;
  /** The client networks that may not open a new chat, and until when, in Unix milliseconds. */
  readonly #refusedUntil = new Map<string, number>();

  constructor(env: Env) {
    this.#env = env;
  }

  /** @param id the page's own id of the message @returns the identity to adopt, or why there is no chat */
  async open(visitor: Visitor, id: string): Promise<ChatIdentity | RefusedFrame | "no_channel"> {
    const { chatId, clientNetwork } = visitor;
    const wait = this.#wait(clientNetwork);
    if (wait > 0) return tooMany(id, wait);
    let opened: OpenedChat;
    try {
      opened = await openVisitorChat(this.#env, visitor, NEARBY);
    } catch (error) {
      console.error({ event: "open_chat_failed", chatId, error: causeOf(error) });
      return unavailableFrame(id);
    }
    switch (opened.outcome) {
      case "opened":
        return opened.identity;
      case "too_many":
        // Only for a few seconds: if the company creates the chat meanwhile, the visitor may write in it.
        this.#refusedUntil.set(clientNetwork, Date.now() + Math.min(opened.retryAfter, RETRY_AFTER_SECONDS) * 1_000);
        return tooMany(id, opened.retryAfter);
      case "chat_limit":
        return refusedFrame(id, "chat_limit", null);
      case "deleting":
        return unavailableFrame(id);
      case "no_channel":
        return "no_channel";
    }
  }

  /** The seconds until a client network may ask for a new chat again; 0 if it may now. */
  #wait(network: string): number {
    const now = Date.now();
    for (const [each, until] of this.#refusedUntil) if (until <= now) this.#refusedUntil.delete(each);
    return Math.ceil(((this.#refusedUntil.get(network) ?? now) - now) / 1_000);
  }
}

function tooMany(id: string, seconds: number): RefusedFrame {
  return refusedFrame(id, "rate_limited", seconds, "Too many new chats");
}
