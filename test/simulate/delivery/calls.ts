import type { PartOutcome } from "../../../src/model/network.ts";
import type { Grant } from "./channel-judge.ts";

/** One call on the wire. */
export interface Call {
  at: number;
  seq: number;
  part: number;
  attempts: number;
  /** The first call of its attempt. */
  isFirst: boolean;
  grant: Grant;
  accepted: boolean;
  /** What an instance of the chat was answered, and what of that came to its disk; null: nothing. */
  given: PartOutcome | null;
  answer: PartOutcome | null;
  /** The chat has it on disk that this is out. */
  isKnown: boolean;
}

/** The calls of a chat's messages. */
export class CallBook {
  readonly #calls = new Map<number, Call[]>();
  /** The message that was sent last. */
  lastSeq = 0;

  add(call: Call): void {
    this.lastSeq = call.seq;
    this.#calls.set(call.seq, [...this.of(call.seq), call]);
  }

  of(seq: number): Call[] {
    return this.#calls.get(seq) ?? [];
  }
}
