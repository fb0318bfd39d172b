import type { Adapter } from "../../channels/network/adapter.ts";
import { networkOf } from "../../channels/registry.ts";
import type { ActAnswer, CallerName, RefusedDraft, Unknown } from "../../model/chat-answers.ts";
import { rejectedText } from "../../model/error.ts";
import type { Message } from "../../model/message.ts";
import type { ActOutcome, NetworkAct, Outcome } from "../../model/network.ts";
import { type Clock, isRecent } from "../../platform/clock.ts";
import { withDeadline } from "../../platform/deadline.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { ContactAddresses } from "./contact-addresses.ts";
import type { NetworkChat } from "./delivery/network-chat.ts";
import { acquirePermit, type ChannelAccess, type Granted, report, returnPermit } from "./delivery/permit.ts";
import type { EditsAndReactions } from "./edits-and-reactions.ts";
import type { Adoption } from "./identity.ts";
import { isFull } from "./log/limits.ts";
import type { MessageLog } from "./log/message-log.ts";
import { isBlank } from "./log/redaction.ts";
import type { ScheduledMessages } from "./scheduled/scheduled-messages.ts";
import type { Typing } from "./typing.ts";
import type { VisitorSockets } from "./visitors/visitor-sockets.ts";

/** How long the client waits for the acts before its own, and again for a start. */
const WITHIN_MS = 3_000;
/** How long the client waits for the network's answer. */
const TIMEOUT_MS = 10_000;
/** How many acts may wait for the one that is made. */
export const MAX_CHAT_ACTS = 10;
const MAX_ASKS = 5;
const MAX_RETRY_AFTER = 3_600;

/** A chat that a network delivers. */
export interface ActingChat extends ChannelAccess, Pick<NetworkChat, "exists" | "kind"> {
  adapter: Pick<Adapter, "acts">;
}

interface Parts {
  storage: { kv: Pick<SyncKvStorage, "get" | "put"> };
  log: MessageLog;
  clock: Clock;
  adoption: Pick<Adoption, "identity">;
  contact: Pick<ContactAddresses, "current" | "follow" | "topic">;
  scheduled: Pick<ScheduledMessages, "find">;
  editsAndReactions: Pick<EditsAndReactions, "setReaction">;
  visitors: Pick<VisitorSockets, "isOnline" | "showRead" | "showTyping">;
  report: Pick<ChatReporter, "stateChanged">;
  typing: Pick<Typing, "announce">;
  /** Null if no network delivers the chat's messages. */
  networkChat(): ActingChat | null;
}

type Answer<Done> = Exclude<ActAnswer<Done>, Unknown>;
type Shown = { shown: boolean };
type Refusal = Exclude<Answer<Shown>, { outcome: "ok" | "no_message" }>;

/**
 * What a client does besides sending: it reacts, marks messages as read, and shows a typing indicator. The contact sees
 * it at once or not at all. Each act makes one attempt while its client waits, one act after the other, and only if the
 * channel has a start for it within 3 seconds.
 */
export class Acts {
  readonly #parts: Parts;
  /** The end of the last act. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The seq up to which a client has read; null if none has. */
  readUpTo(): number | null {
    return this.#parts.storage.kv.get<number>("readUpTo") ?? null;
  }

  /** Reacts to a message, or takes the reaction back (`emoji` is null). @returns the message's JSON */
  react(messageId: string, emoji: string | null): Promise<Answer<{ doc: string }>> {
    return this.#inTurn(() => this.#react(messageId, emoji));
  }

  /** Marks the contact's messages up to this one as read. */
  markRead(messageId: string): Promise<Answer<Shown>> {
    return this.#inTurn(() => this.#markRead(messageId));
  }

  /** Shows the contact that somebody writes. @param publicName a member's name that contacts see */
  showTyping(by: CallerName, publicName = by.name): Promise<Answer<Shown>> {
    const { log, typing, visitors } = this.#parts;
    typing.announce(by);
    const chat = this.#parts.networkChat();
    if (!chat) {
      const isShown = visitors.showTyping(by.type === "member" ? { name: publicName } : null);
      return Promise.resolve({ outcome: "ok", shown: isShown });
    }
    return this.#inTurn(() =>
      this.#make(chat, { act: "typing", networkId: log.networkIds.newestInbound(log.newest().seq) }),
    );
  }

  async #react(messageId: string, emoji: string | null): Promise<Answer<{ doc: string }>> {
    const { clock, log, editsAndReactions, scheduled } = this.#parts;
    const row = log.byId(messageId);
    if (!row) return scheduled.find(messageId) ? refused("not_sent") : { outcome: "no_message" };
    const message = JSON.parse(row.doc) as Message;
    const before = message.reactions?.find(({ by }) => by === "organization");
    if ((before?.emoji ?? null) === emoji) return { outcome: "ok", doc: row.doc };
    if (isBlank(message)) return refused("redacted");
    if (emoji !== null && isFull(log)) return refused("chat_full");
    const chat = this.#parts.networkChat();
    const at = clock.now();
    if (chat) {
      const networkId = log.networkIds.of(row.seq);
      if (networkId === null) return refused("not_sent");
      const made = await this.#make(chat, { act: "react", messageId, networkId, emoji, at });
      if (made.outcome !== "ok") return made;
      if (!made.shown) return refused("not_supported_by_channel");
      if (!chat.exists()) return { outcome: "no_message" };
    }
    if (editsAndReactions.setReaction(row.seq, emoji, at)) return this.#found(messageId);
    const now = log.byId(messageId);
    if (!now) return { outcome: "no_message" };
    return refused(isBlank(JSON.parse(now.doc) as Message) ? "redacted" : "refused_by_network");
  }

  #found(messageId: string): Answer<{ doc: string }> {
    const row = this.#parts.log.byId(messageId);
    return row ? { outcome: "ok", doc: row.doc } : { outcome: "no_message" };
  }

  async #markRead(messageId: string): Promise<Answer<Shown>> {
    const { log, scheduled, visitors } = this.#parts;
    const row = log.byId(messageId);
    if (!row) return scheduled.find(messageId) ? refused("not_sent") : { outcome: "no_message" };
    const chat = this.#parts.networkChat();
    if (chat && !chat.adapter.acts?.kinds.includes("read")) return refused("not_supported_by_channel");
    const networkId = chat && log.networkIds.newestInbound(row.seq);
    if (row.seq <= (this.readUpTo() ?? 0)) {
      return { outcome: "ok", shown: chat ? networkId !== null : visitors.isOnline };
    }
    const made: Answer<Shown> =
      chat && networkId !== null
        ? await this.#make(chat, { act: "read", networkId })
        : { outcome: "ok", shown: !chat && visitors.showRead(row.seq) };
    // While the network was asked, the chat may have been deleted.
    if (made.outcome === "ok" && (chat?.exists() ?? true)) this.#store(row.seq);
    return made;
  }

  #store(seq: number): void {
    this.#parts.storage.kv.put("readUpTo", Math.max(seq, this.readUpTo() ?? 0));
    this.#parts.report.stateChanged();
  }

  /** Asks the channel for a start, makes the act at the network, and reports its end to the channel. */
  async #make(chat: ActingChat, act: NetworkAct): Promise<Refusal | ({ outcome: "ok" } & Shown)> {
    const { acts } = chat.adapter;
    if (!acts?.kinds.includes(act.act)) return refused("not_supported_by_channel");
    const permit = await this.#permit(chat);
    if (permit.outcome !== "granted") return permit;
    if (!chat.exists()) {
      await returnPermit(chat, permit);
      return away(1_000);
    }
    const { clock, contact } = this.#parts;
    const { topic } = contact;
    const target = { chatId: chat.identity.chatId, address: contact.current(chat.identity), topic };
    const outcome = await withDeadline(clock, TIMEOUT_MS, (signal) =>
      acts.make(act, target, permit.credentials, networkOf(chat.parts.env, chat.kind), signal),
    ).catch((): ActOutcome => ({ outcome: "unknown", message: "The network did not answer in time" }));
    if (outcome.outcome === "not_shown") await returnPermit(chat, permit);
    else await report(chat, reported(outcome), permit);
    if (outcome.outcome === "moved" && chat.exists()) contact.follow(outcome);
    return answerTo(outcome);
  }

  /** A permit to start within 3 seconds, or when to ask again. A start that is too far ahead is not reserved. */
  async #permit(chat: ActingChat): Promise<Granted | { outcome: "away"; retryAfter: number }> {
    const { clock } = this.#parts;
    const until = clock.now() + WITHIN_MS;
    let reservedAt: number | null = null;
    for (let asks = 0; asks < MAX_ASKS; asks++) {
      const permit = await acquirePermit(chat, reservedAt, null, Math.max(0, until - clock.now()));
      if (permit.outcome === "granted") return permit;
      if (permit.outcome === "away") return away(1_000);
      if (permit.broken || permit.at > until) return away(permit.at - clock.now());
      await clock.wait(Math.max(0, permit.at - clock.now()));
      reservedAt = permit.at;
    }
    return away(WITHIN_MS);
  }

  /** Makes an act after all earlier ones, unless too many wait, or they take too long: its client may have left. */
  async #inTurn<T>(act: () => Promise<T>): Promise<T | ReturnType<typeof away> | { outcome: "no_message" }> {
    if (this.#waiting >= MAX_CHAT_ACTS) return away(1_000);
    this.#waiting++;
    const { clock } = this.#parts;
    const since = clock.now();
    const made = this.#last
      .then<T | ReturnType<typeof away> | { outcome: "no_message" }>(() => {
        // The chat may have been deleted while the act waited.
        if (!this.#parts.adoption.identity()) return { outcome: "no_message" };
        return isRecent(since, WITHIN_MS, clock.now()) ? act() : away(1_000);
      })
      .finally(() => this.#waiting--);
    this.#last = made.catch(() => undefined);
    return made;
  }
}

/** What an act's outcome says about the channel. A refusal proves nothing against it: the next message will show. */
function reported(outcome: ActOutcome): Outcome {
  switch (outcome.outcome) {
    case "done":
    case "not_shown":
      return { outcome: "sent", parts: [], addresses: [] };
    case "channel_broken":
      return { outcome: "unknown", message: outcome.reason, parts: [] };
    default:
      return { ...outcome, parts: [] };
  }
}

function answerTo(outcome: ActOutcome): Refusal | ({ outcome: "ok" } & Shown) {
  switch (outcome.outcome) {
    case "done":
    case "not_shown":
      return { outcome: "ok", shown: outcome.outcome === "done" };
    case "failed":
      return { ...refused("refused_by_network"), text: rejectedText(outcome.message) };
    case "retry":
      return away(outcome.afterMs ?? 1_000);
    case "channel_broken":
      return away(60_000);
    case "moved":
    case "unknown":
      return away(1_000);
  }
}

function refused(code: RefusedDraft["code"]): RefusedDraft {
  return { outcome: "refused", code };
}

/** @param ms until the act can be repeated */
function away(ms: number): { outcome: "away"; retryAfter: number } {
  return { outcome: "away", retryAfter: Math.min(MAX_RETRY_AFTER, Math.max(1, Math.ceil(ms / 1_000))) };
}
