import { addressOfToken, isToken } from "../../../channels/web/identity.ts";
import type { AsOwner, ChatIdentity, InboundDraft, ReceiveAnswer } from "../../../model/chat-answers.ts";
import { jurisdictionOf, newId } from "../../../model/id.ts";
import type { Message } from "../../../model/message.ts";
import { isStopWord } from "../../../model/stop-words.ts";
import { webChatId } from "../../../model/visitor.ts";
import type { Adoption } from "../identity.ts";
import type { MessageLog } from "../log/message-log.ts";
import { receivedDedupe } from "../log/network-ids.ts";
import type { StoredDetails } from "../stored-details.ts";
import { attached } from "./attachment.ts";
import { ChatOpener } from "./chat-opener.ts";
import { close, NO_CHANNEL, TRY_LATER, WRONG_IDENTITY } from "./closing.ts";
import {
  type ContactFrame,
  contentFault,
  detailsIn,
  emojiFault,
  type MessageFrame,
  type ReactionFrame,
  type RefusedFrame,
  refusedFrame,
  sendFrame,
  storedFrame,
  unavailableFrame,
} from "./frames.ts";
import { inputTimes } from "./queries.ts";
import { MAX_IN_WINDOW, RATE_WINDOW_MS, secondsToWait } from "./rate-limit.ts";
import { type ChannelWords, isOwner } from "./socket-check.ts";

export interface InputParts {
  env: Env;
  log: MessageLog;
  adoption: Adoption;
  details: StoredDetails;
  /** See `EditsAndReactions`, which shows messages to visitors, so its class isn't imported. */
  editsAndReactions: { visitorReacted(seq: number, emoji: string | null, at: number): Message | null };
  /** Stores a message; adopts the chat first if an identity is given. `unknown` if the chat was deleted meanwhile. */
  receive(as: AsOwner, draft: InboundDraft): Promise<ReceiveAnswer>;
}

/** The visitor's open pages; see `VisitorSockets`. */
interface Pages {
  showOthers(socket: WebSocket, message: Message): void;
  answer(socket: WebSocket, message: Message): void;
  show(message: Message): void;
  wordsOf(socket: WebSocket): ChannelWords;
}

/** How many frames may wait for earlier ones. Our page sends a message only after the response to the previous one. */
const MAX_WAITING = 20;

/** Handles what a visitor writes, one frame after another: two at once could both pass the rate limit. */
export class VisitorInput {
  readonly #parts: InputParts;
  readonly #pages: Pages;
  readonly #opener: ChatOpener;
  /** The end of the newest frame's processing. */
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(parts: InputParts, pages: Pages) {
    this.#parts = parts;
    this.#pages = pages;
    this.#opener = new ChatOpener(parts.env);
  }

  /** Stores a visitor's message once and sends it to the other tabs, or sends the reason for a refusal. */
  message(socket: WebSocket, frame: MessageFrame): Promise<void> {
    return this.#inOrder(socket, () => this.#receive(socket, frame));
  }

  /** Stores the visitor's reaction. The page gets the message as it is then, or the reason for a refusal. */
  reaction(socket: WebSocket, frame: ReactionFrame): Promise<void> {
    return this.#inOrder(socket, () => this.#react(socket, frame));
  }

  /**
   * Fills the contact's name and email. What a site says of its own user is never changed: there, the frame can only name
   * the chat that the user had before, which its token proves.
   */
  contact(socket: WebSocket, frame: ContactFrame): Promise<void> {
    return this.#inOrder(socket, () => this.#introduce(socket, frame));
  }

  /** Processes a frame after all earlier ones. Closes the socket if too many are waiting. */
  async #inOrder(socket: WebSocket, process: () => Promise<void> | void): Promise<void> {
    if (this.#waiting >= MAX_WAITING) return close(socket, TRY_LATER);
    this.#waiting++;
    const processed = this.#last
      // The object may have adopted another visitor's chat while the frame waited.
      .then(() => (isOwner(attached(socket), this.#identity()) ? process() : close(socket, WRONG_IDENTITY)))
      .finally(() => this.#waiting--);
    this.#last = processed.catch(() => undefined);
    await processed;
  }

  async #receive(socket: WebSocket, frame: MessageFrame): Promise<void> {
    const { id, content, choice, replyTo, mediaId } = frame;
    const refuse = (refusal: RefusedFrame) => sendFrame([socket], refusal);
    const fault = contentFault(frame);
    if (fault) return refuse(fault);
    // A chat that is yet to begin has no files, and none begins for a message that is refused.
    if (mediaId !== undefined && !this.#identity()) return refuse(refusedFrame(id, "media_not_found", null));
    const knownIdentity = this.#identity() ? null : await this.#opener.open(attached(socket), id);
    if (knownIdentity === "no_channel") return close(socket, NO_CHANNEL);
    if (knownIdentity && "type" in knownIdentity) return refuse(knownIdentity);
    // A chat that is about to be adopted has no messages of the visitor yet.
    if (knownIdentity === null && this.#parts.log.byDedupe(receivedDedupe(id)) === null) {
      const refusal = this.#rateLimited(id);
      if (refusal) return refuse(refusal);
    }
    const { organizationId, chatId, admission } = attached(socket);
    const { stopWords, away } = this.#pages.wordsOf(socket);
    const draft: InboundDraft = {
      id: newId("msg", jurisdictionOf(chatId)),
      dedupe: id,
      type: "TEXT",
      content,
      media: null,
      mediaId,
      origin: admission.ownOrigin,
      addresses: [],
      isStop: mediaId === undefined && isStopWord(stopWords, content),
      away,
      extra: { replyTo, tap: choice === undefined ? undefined : { data: choice, title: content } },
    };
    const answer = await this.#parts.receive({ organizationId, knownIdentity, isRepeat: false }, draft);
    if (answer.outcome === "chat_full") return refuse(refusedFrame(id, "chat_full", null));
    if (answer.outcome === "refused") return refuse(refusedFrame(id, answer.code, null));
    if (answer.outcome === "unknown") return refuse(unavailableFrame(id));
    sendFrame([socket], storedFrame(id, answer.doc));
    if (answer.outcome === "repeated") return;
    this.#pages.showOthers(socket, JSON.parse(answer.doc) as Message);
    // Last: a page that gets a later message first connects again.
    if (answer.awayDoc !== undefined) this.#pages.show(JSON.parse(answer.awayDoc) as Message);
  }

  #react(socket: WebSocket, frame: ReactionFrame): void {
    const { seq, emoji } = frame;
    if (!this.#identity()) return;
    const refusal = emojiFault(frame) ?? this.#rateLimited("reaction");
    if (refusal) {
      sendFrame([socket], refusal);
      return;
    }
    const { log, editsAndReactions } = this.#parts;
    const { changes } = log;
    const message = editsAndReactions.visitorReacted(seq, emoji, Date.now());
    // A change is shown on all pages.
    if (message && log.changes === changes) this.#pages.answer(socket, message);
  }

  async #introduce(socket: WebSocket, frame: ContactFrame): Promise<void> {
    const contact = detailsIn(frame);
    if ("type" in contact) return sendFrame([socket], contact);
    const identity = this.#identity();
    if (!identity) return;
    const { admission, channelId } = attached(socket);
    const { anonymousToken } = frame;
    if (admission.fingerprint === null) {
      const metadata: Record<string, string> = contact.email === null ? {} : { email: contact.email };
      await this.#parts.details.fill(identity, { name: contact.name, metadata });
    } else if (anonymousToken !== undefined && isToken(anonymousToken)) {
      const anonymousChatId = await webChatId(channelId, await addressOfToken(anonymousToken));
      await this.#parts.details.fill(identity, { name: null, metadata: { anonymousChatId } });
    }
  }

  #identity(): ChatIdentity | undefined {
    return this.#parts.adoption.identity();
  }

  /** The refusal of one more message or reaction; null if it is in time. @param id of the refused frame */
  #rateLimited(id: string): RefusedFrame | null {
    const now = Date.now();
    const wait = secondsToWait(inputTimes(this.#parts.log.events, now - RATE_WINDOW_MS, MAX_IN_WINDOW), now);
    return wait > 0 ? refusedFrame(id, "rate_limited", wait, "Too many messages") : null;
  }
}
