import type { MessageChange, MessageChangeAnswer, Unknown } from "../../model/chat-answers.ts";
import type { Message, Reaction } from "../../model/message.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { Echoes } from "./echoes.ts";
import type { NewEvent } from "./log/event-log.ts";
import { isFull } from "./log/limits.ts";
import type { MessageLog } from "./log/message-log.ts";
import { isBlank } from "./log/redaction.ts";
import type { Redactions } from "./redactions.ts";
import type { VisitorSockets } from "./visitors/visitor-sockets.ts";

const MAX_FAILED = 100;

interface Parts {
  log: MessageLog;
  redactions: Redactions;
  echoes: Pick<Echoes, "isHeld">;
  visitors: VisitorSockets;
}

type Answer = Exclude<MessageChangeAnswer, Unknown>;

/**
 * What changes a stored message besides its delivery: its writer edits and deletes it, both sides react. The networks
 * report it late, twice or in another order. Blank and deleted messages don't change.
 */
export class EditsAndReactions {
  readonly #parts: Parts;
  /** The company's reactions that failed before they were stored: the network may say so before it answers the call. */
  readonly #failed = new BoundedMap<string, true>(MAX_FAILED);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Applies a change. Also `ok` if nothing is left to change. */
  apply(change: MessageChange): Answer | Promise<Answer> {
    if ("networkId" in change && this.#parts.echoes.isHeld(change.networkId)) return { outcome: "held" };
    switch (change.change) {
      case "edit":
        return found(this.#edit(change));
      case "deletion":
        return this.#delete(change);
      case "reaction":
        return found(this.#react(change, "contact"));
      case "own_reaction":
        return found(this.#react(change, "organization"));
      case "reaction_failed":
        return found(this.#takeBack(change));
    }
  }

  /**
   * A visitor reacts, or takes the reaction back. A page sends each reaction once and in order. So the same reaction
   * again stores nothing, and counts in no limit.
   * @param at Unix milliseconds
   * @returns the message, if it can change
   */
  visitorReacted(seq: number, emoji: string | null, at: number): Message | null {
    const message = this.#open(this.#parts.log.docAt(seq));
    if (!message || (reactionOf(message, "contact")?.emoji ?? null) === emoji) return message;
    return this.#replaceReaction(message, "contact", emoji, at);
  }

  /** A network reports that a side reacted at `at` (Unix milliseconds), or took the reaction back. */
  #reacted(doc: string, side: Reaction["by"], emoji: string | null, at: number): Message | null {
    const message = this.#open(doc);
    if (!message) return null;
    const { heard } = this.#parts.log;
    const { seq } = message;
    const stored = reactionOf(message, side);
    const storedAt = stored ? Date.parse(stored.at) : this.#lastReactionAt(seq, side);
    const latest = side === "contact" ? Math.max(storedAt, heard.latest(seq, "reaction")) : storedAt;
    if (at < latest) return message;
    if ((stored?.emoji ?? null) !== emoji) return this.#replaceReaction(message, side, emoji, at);
    if (at > latest && side === "contact") heard.note(seq, "reaction", at);
    return message;
  }

  /**
   * Stores the company's reaction, which was made at `at` (Unix milliseconds), or removes it.
   * @returns the message; null if it can't change, or if the network has taken the reaction back
   */
  setReaction(seq: number, emoji: string | null, at: number): Message | null {
    const message = this.#open(this.#parts.log.docAt(seq));
    if (!message || this.#failed.delete(failedKey(message.id, at))) return null;
    const stored = reactionOf(message, "organization");
    if (!stored && emoji === null) return message;
    return this.#replaceReaction(message, "organization", emoji, at);
  }

  /** The text or caption of a message that came in. The latest edit counts, within a second the one that comes last. */
  #edit({ networkId, content, at }: Extract<MessageChange, { change: "edit" }>): Message | null {
    const message = this.#open(this.#parts.log.networkIds.receivedMessage(networkId)?.doc);
    if (!message || isFull(this.#parts.log)) return null;
    const { heard } = this.#parts.log;
    const { seq, editedAt } = message;
    const storedAt = editedAt === undefined ? Number.NEGATIVE_INFINITY : Date.parse(editedAt);
    const latest = Math.max(storedAt, heard.latest(seq, "edit"));
    if (at < latest) return message;
    // A network also reports edits that nobody sees, for example of a link's preview.
    if (message.content === content) {
      if (at > latest) heard.note(seq, "edit", at);
      return message;
    }
    const edited = { ...message, content, text: content, editedAt: new Date(at).toISOString() };
    return this.#store(edited, "message.edited", null);
  }

  async #delete({ networkId }: Extract<MessageChange, { change: "deletion" }>): Promise<Answer> {
    const row = this.#parts.log.networkIds.receivedMessage(networkId);
    return row ? this.#parts.redactions.deletedByWriter(JSON.parse(row.doc) as Message) : { outcome: "no_message" };
  }

  #react(
    { networkId, emoji, at }: Extract<MessageChange, { change: "reaction" | "own_reaction" }>,
    side: Reaction["by"],
  ): Message | null {
    const row = this.#parts.log.networkIds.message(networkId);
    return row && this.#reacted(row.doc, side, emoji, at);
  }

  #takeBack({ messageId, at }: Extract<MessageChange, { change: "reaction_failed" }>): Message | null {
    const message = this.#open(this.#parts.log.byId(messageId)?.doc);
    if (!message) return null;
    const stored = reactionOf(message, "organization");
    if (stored && Date.parse(stored.at) === at) return this.#replaceReaction(message, "organization", null, at);
    this.#failed.set(failedKey(messageId, at), true);
    return message;
  }

  #replaceReaction(message: Message, by: Reaction["by"], emoji: string | null, at: number): Message | null {
    if (emoji !== null && isFull(this.#parts.log)) return null;
    const others = message.reactions?.filter((each) => each.by !== by) ?? [];
    const reactions = emoji === null ? others : [...others, { by, emoji, at: new Date(at).toISOString() }];
    const changed = { ...message, reactions: reactions.length > 0 ? reactions : undefined };
    return this.#store(changed, "message.reaction", { by, at });
  }

  /** When a side last reacted to a message that has no reaction of its own now: what came before is over. */
  #lastReactionAt(seq: number, side: Reaction["by"]): number {
    return this.#parts.log.events.lastReactionAt(seq, side) ?? Number.NEGATIVE_INFINITY;
  }

  #store(message: Message, type: NewEvent["type"], note: NewEvent["note"]): Message {
    const { log, visitors } = this.#parts;
    const stored = log.change(message, { type, note, at: Date.now() });
    visitors.update(stored);
    return stored;
  }

  /** The message, unless it is blank. */
  #open(doc: string | null | undefined): Message | null {
    const message = doc ? (JSON.parse(doc) as Message) : null;
    return message && isBlank(message) ? null : message;
  }
}

function reactionOf({ reactions }: Message, side: Reaction["by"]): Reaction | undefined {
  return reactions?.find(({ by }) => by === side);
}

function found(message: Message | null): Answer {
  return { outcome: message ? "ok" : "no_message" };
}

function failedKey(messageId: string, at: number): string {
  return `${messageId} ${at}`;
}
