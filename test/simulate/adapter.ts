import type { Outcome } from "../../src/channels/adapter.ts";
import { ADAPTERS } from "../../src/channels/registry.ts";
import type { NetworkPort, SendCall } from "../../src/chats/object/delivery/attempt.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../src/chats/object/delivery/retry.ts";
import type { Grant } from "./channel-judge.ts";
import type { SimulatedChat } from "./chat.ts";
import type { Answer, Call, SimulatedNetwork } from "./network.ts";
import type { World } from "./world.ts";

const NO_ANSWER: Answer = { outcome: "unknown", message: "No answer" };

/** The message of an attempt, and what its sender has returned. */
interface Sending {
  seq: number;
  outcome: Outcome | null;
}

const NOTHING: Sending = { seq: 0, outcome: null };

/** Makes a call leave the chat's object once its writes are on disk. Resolves when it is answered. */
type Leave = (call: Call, begin: (answered: () => void) => void) => Promise<unknown>;

/** Sends messages as an adapter does, over the simulated network. One object of a chat has one. */
export class SimulatedAdapter implements NetworkPort {
  readonly unknownWaitMs: number;
  /** The permit of the attempt that comes next or is under way. */
  grant: Grant | null = null;
  /** A status said during the attempt that the channel is broken. */
  isBrokenByStatus = false;
  readonly #world: World;
  readonly #chat: SimulatedChat;
  readonly #network: SimulatedNetwork;
  readonly #leave: Leave;
  #sending: Sending = NOTHING;

  constructor(world: World, chat: SimulatedChat, network: SimulatedNetwork, leave: Leave) {
    this.unknownWaitMs = ADAPTERS[chat.kind].unknownWaitMs;
    this.#world = world;
    this.#chat = chat;
    this.#network = network;
    this.#leave = leave;
  }

  countParts({ mediaUrl }: { mediaUrl: string | null }): number {
    return mediaUrl === null ? 1 : 2;
  }

  connect(): SendCall {
    return async (message, _credentials, signal, onPart) => {
      const seq = this.#chat.seqOf(message.messageId);
      const sending: Sending = { seq, outcome: null };
      this.#sending = sending;
      const until = this.#world.now + ATTEMPT_TIMEOUT_MS;
      const parts = [...message.partsSent];
      while (!sending.outcome) {
        const answer = await this.#call(seq, parts.length, parts.length === message.partsSent.length, until, signal);
        if (answer.outcome !== "ok") sending.outcome = { ...answer, parts } as Outcome;
        else {
          parts.push(answer.id);
          onPart(answer.id);
          if (parts.length >= this.countParts(message)) sending.outcome = { outcome: "sent", parts, addresses: [] };
        }
      }
      return sending.outcome;
    };
  }

  /** An attempt has ended. @param outcome as it counts for the message */
  attempted(outcome: Outcome): void {
    const { seq, outcome: answer } = this.#sending;
    this.#world.count(`outcome: ${outcome.outcome}`);
    const { grant, isBrokenByStatus } = this;
    this.isBrokenByStatus = false;
    this.#sending = NOTHING;
    if (!grant) return;
    const { judge } = this.#chat;
    judge.attempted(seq, grant, answer?.outcome ?? "unknown", outcome);
    if (isBrokenByStatus || outcome.outcome === "channel_broken") judge.owes("broken");
    else {
      if (outcome.outcome === "retry" && outcome.wholeChannel) judge.owes("slow_down");
      if (grant.probe !== null || grant.trial) judge.owes("probe");
    }
  }

  /** The message whose attempt is under way; 0 if none is. */
  get seq(): number {
    return this.#sending.seq;
  }

  async #call(seq: number, part: number, isFirst: boolean, until: number, signal: AbortSignal): Promise<Answer> {
    const { grant } = this;
    if (!grant) throw new Error("The network is called without a permit");
    const attempts = this.#chat.rows[seq - 1]?.delivery.attempts ?? 0;
    const call: Call = {
      at: this.#world.now,
      seq,
      part,
      attempts,
      isFirst,
      grant,
      accepted: false,
      given: null,
      answer: null,
      isKnown: false,
    };
    await this.#leave(call, (answered) => {
      const isAnswered = this.#network.call(this.#chat, call, until, (answer) => {
        call.given = answer;
        answered();
      });
      // An adapter that ignores its deadline never returns.
      if (isAnswered || this.#world.fault("deadline ignored", 0.3)) return;
      signal.onabort = () => {
        call.given = NO_ANSWER;
        answered();
      };
    });
    return call.given ?? NO_ANSWER;
  }
}
