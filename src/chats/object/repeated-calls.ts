import type { Draft } from "../../model/chat-answers.ts";
import { messageId } from "../../model/id.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { MessageLog } from "./log/message-log.ts";

const MAX_REMEMBERED = 100;
/** The Worker's clock and the chat's may differ by this much. */
const CLOCK_SKEW_MS = 60_000;

/** Finds the message that an earlier try of the same call stored. */
export class RepeatedCalls {
  readonly #log: MessageLog;
  /** The seqs that this instance stored, by the id of the call: a call may arrive after its own repeat. */
  readonly #seqs = new BoundedMap<string, number>(MAX_REMEMBERED);

  constructor(log: MessageLog) {
    this.#log = log;
  }

  /** The JSON of the message that a call stored already; null if it stored none. */
  find({ id, calledAt }: Draft, isRepeat: boolean): string | null {
    const seq = this.#seqs.get(id);
    // By its id: the chat may have been deleted and created again, and then another message has this seq.
    const stored = seq === undefined ? null : this.#log.byId(messageId(id, seq));
    if (stored) return stored.doc;
    return isRepeat ? this.#log.ofCall(id, calledAt - CLOCK_SKEW_MS) : null;
  }

  stored({ id }: Draft, seq: number): void {
    this.#seqs.set(id, seq);
  }
}
