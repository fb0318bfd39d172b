import type { ChatIdentity, HandoverRequest, RefusedDraft } from "../../model/chat-answers.ts";
import type { Handover, HandoverChange } from "./handover.ts";
import type { ChatTables } from "./log/chat-tables.ts";
import type { MessageLog } from "./log/message-log.ts";
import type { Notes } from "./notes.ts";
import type { MessageStore } from "./store-messages.ts";
import type { StoredDetails } from "./stored-details.ts";

/** Where the last acts are stored, so that a repeat finds its own. */
const CALLS = "handoverCalls";
const MAX_CALLS = 20;

/**
 * An act, by the Worker's id of it and by the client's idempotency key. `fingerprint`: of all but the message and the note,
 * which have their own. `messageId`: null if it has no message.
 */
interface Call {
  id: string;
  hash: string | null;
  fingerprint: string | null;
  messageId: string | null;
}

/** `doc`: the JSON of the act's message; null if it has none, or if the message is gone. */
type Done = { outcome: "ok"; doc: string | null; replayed: boolean };

interface Parts {
  storage: { kv: SyncKvStorage };
  tables: Pick<ChatTables, "transaction">;
  log: Pick<MessageLog, "byId" | "forget">;
  scheduled: { forget(): void };
  store: Pick<MessageStore, "outbound" | "repeatOf">;
  notes: Pick<Notes, "add" | "earlier" | "forget" | "refusalOf">;
  handover: Pick<Handover, "isHandedOver" | "toBot" | "toPeople">;
  details: Pick<StoredDetails, "changeHands">;
}

/**
 * The act of handing a chat to people or to the bot, with a message, a note and an assignee. Either all of it is stored or
 * nothing. If the chat has this handler already, only the message, the note and the assignee are stored.
 */
export class HandOver {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @param isRepeat an earlier call with this request failed, and may have been stored */
  act(identity: ChatIdentity, request: HandoverRequest, isRepeat: boolean): Done | RefusedDraft {
    const { log, notes, scheduled, tables } = this.#parts;
    let answer: Done | RefusedDraft | undefined;
    try {
      tables.transaction(() => (answer = this.#act(identity, request, isRepeat)));
    } catch (error) {
      // What they have in memory is not stored.
      for (const part of [log, notes, scheduled]) part.forget();
      throw error;
    }
    return answer as Done | RefusedDraft;
  }

  #act(identity: ChatIdentity, request: HandoverRequest, isRepeat: boolean): Done | RefusedDraft {
    const { id, by, idempotencyHash: hash, fingerprint, message, note, assignment } = request;
    const { details, notes, store } = this.#parts;
    const calls = this.#calls();
    const repeated = this.#repeated(calls, request);
    if (repeated) return repeated;
    const isBot = request.botOf?.includes(identity.channelId) ?? false;
    const change = this.#changeOf(request, isBot);
    if (change && "outcome" in change) return change;
    const refusal = note && notes.refusalOf(note);
    if (refusal) return refusal;
    const sent = message && store.outbound(identity, { ...message, isParting: true }, isRepeat);
    if (sent?.outcome === "refused") return sent;
    if (note) notes.add(identity, note);
    details.changeHands(change, assignment && { ...assignment, by });
    const doc = sent?.doc ?? null;
    const messageId = doc === null ? null : (JSON.parse(doc) as { id: string }).id;
    const call: Call = { id, hash, fingerprint, messageId };
    this.#parts.storage.kv.put(CALLS, [...calls, call].slice(-MAX_CALLS));
    return { outcome: "ok", doc, replayed: false };
  }

  /** The change that is asked for, or why it can't be made; null if the chat has this handler. */
  #changeOf({ to, bot, by }: HandoverRequest, isBot: boolean): HandoverChange | RefusedDraft | null {
    const { handover } = this.#parts;
    if (to === "people") return handover.toPeople(by, "asked", isBot ? "bot_asked" : "asked");
    if (handover.isHandedOver(isBot)) return { outcome: "refused", code: "handed_over" };
    return bot ? handover.toBot(bot, by, "asked") : { outcome: "refused", code: "no_bot" };
  }

  /**
   * The answer to a repeat, which must ask for the same; null for a new act. An act that is no longer among the last ones is
   * known by its message or its note. Of a text that is gone, nothing is left to compare.
   */
  #repeated(calls: Call[], { id, idempotencyHash: hash, fingerprint, message, note }: HandoverRequest) {
    const { log, notes, store } = this.#parts;
    const docOf = ({ messageId }: Call) => (messageId === null ? null : (log.byId(messageId)?.doc ?? null));
    const own = calls.find((call) => call.id === id);
    if (own) return { outcome: "ok" as const, doc: docOf(own), replayed: false };
    if (hash === null) return null;
    const earlier = calls.find((call) => call.hash === hash);
    const mismatch = { outcome: "refused", code: "idempotency_mismatch" } as const;
    if (earlier && earlier.fingerprint !== fingerprint) return mismatch;
    const sent = message && store.repeatOf(message);
    const noted = note && notes.earlier(note);
    if (sent?.outcome === "refused" || noted?.outcome === "refused") return mismatch;
    if (!earlier && !sent && !noted) return null;
    return { outcome: "ok" as const, doc: earlier ? docOf(earlier) : (sent?.doc ?? null), replayed: true };
  }

  #calls(): Call[] {
    return this.#parts.storage.kv.get<Call[]>(CALLS) ?? [];
  }
}
