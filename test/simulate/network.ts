import type { Outcome } from "../../src/channels/adapter.ts";
import type { StatusNews } from "../../src/chats/rpc.ts";
import type { Grant } from "./channel-judge.ts";
import type { SimulatedChat } from "./chat.ts";
import type { World } from "./world.ts";

/** An adapter's outcome, without the parts that it adds. */
export type Refusal = WithoutParts<Exclude<Outcome, { outcome: "sent" }>>;
type WithoutParts<O> = O extends Outcome ? Omit<O, "parts"> : never;
export type Answer = { outcome: "ok"; id: string } | Refusal;

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
  given: Answer | null;
  answer: Answer | null;
  /** The chat has it on disk that this is out. */
  isKnown: boolean;
}

const RETRY = { outcome: "retry", code: "busy", message: "Busy", afterMs: null, wholeChannel: false } as const;
const UNKNOWN: Refusal = { outcome: "unknown", message: "No answer" };

/** A network that takes calls, refuses them, loses answers, and tells what became of a message. */
export class SimulatedNetwork {
  readonly #world: World;
  #ids = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * @param until when the caller stops waiting
   * @returns whether an answer comes by then
   */
  call(chat: SimulatedChat, call: Call, until: number, answer: (answer: Answer) => void): boolean {
    const world = this.#world;
    const { judge } = chat.channel;
    judge.wire(call.grant, true);
    chat.judge.called(call);
    const [given, ms] = this.#answer(chat, call, until - world.now);
    world.after(ms, () => {
      judge.wire(call.grant, false);
      if (given) answer(given);
    });
    return given !== null;
  }

  /** What comes back, if anything does, and after how long. @param wait how long the caller waits */
  #answer(chat: SimulatedChat, call: Call, wait: number): [Answer | null, number] {
    const world = this.#world;
    const [reached, took] = [world.between(2, 200), world.between(2, 300)];
    if (chat.isDeaf) return [null, wait];
    if (world.fault("lost on the way", 0.15))
      return world.pick([
        [UNKNOWN, reached],
        [null, wait],
      ]);
    const refusal = this.#refusal(chat);
    if (refusal) return [refusal, reached];
    call.accepted = true;
    chat.judge.accepted(call.seq, call.part);
    const id = `net-${++this.#ids}`;
    world.note(() => `${chat.id} message ${call.seq} part ${call.part} accepted as ${id}`);
    if (chat.kind === "whatsapp") this.#tell(chat, call, id, reached + took);
    if (world.fault("accepted and dropped", 0.2)) return [UNKNOWN, reached];
    if (world.fault("answer after the deadline", 0.05)) return [null, wait];
    return [{ outcome: "ok", id }, reached + took];
  }

  #refusal(chat: SimulatedChat): Refusal | null {
    const world = this.#world;
    if (chat.channel.isBroken || chat.isPoisoned) return { outcome: "channel_broken", reason: "Bad token" };
    if (world.fault("429 for one chat", 0.1)) return { ...RETRY, afterMs: world.between(1, 60) * 1_000 };
    if (world.fault("429 for the channel", 0.1)) {
      return { ...RETRY, afterMs: world.pick([null, world.between(1, 120) * 1_000]), wholeChannel: true };
    }
    if (world.fault("5xx", 0.2)) return { ...RETRY, code: "http_503" };
    if (world.fault("worth one more try", 0.1)) return { ...RETRY, code: "odd", once: true };
    if (world.fault("refused permanently", 0.1)) return { outcome: "failed", code: "refused", message: "No" };
    if (world.fault("contact moved", 0.05)) return { outcome: "moved", address: "other" };
    return null;
  }

  /** What the network tells of a message that it took. */
  #tell(chat: SimulatedChat, call: Call, id: string, answeredMs: number): void {
    const world = this.#world;
    const messageId = world.fault("status without our id", 0.3) ? null : chat.messageId(call.seq);
    const news: StatusNews = { messageId, networkId: id, status: "SENT", error: null, addresses: [] };
    const told: StatusNews[] = [news, { ...news, status: "DELIVERED" }, { ...news, status: "READ" }];
    if (world.fault("status FAILED", 0.15)) {
      const isBroken = world.fault("channel broken by a status", 0.3);
      const error = { code: "undeliverable", message: "No", ...(isBroken && { broken: "No money" }) };
      chat.judge.failedLater(call.seq);
      told.splice(world.between(0, 2), told.length, { ...news, status: "FAILED", error });
      // Proven wrong later, as it may be.
      if (world.random() < 0.5) told.push({ ...news, status: world.pick(["DELIVERED", "READ"] as const) });
    }
    let ms = world.fault("status before the answer", 0.3) ? world.between(2, answeredMs) : answeredMs + 500;
    if (world.fault("status late", 0.2)) ms += world.between(1, 600) * 1_000;
    if (world.fault("statuses out of order", 0.3)) told.reverse();
    for (const one of told) {
      world.after(ms, () => chat.tell(one, call));
      if (world.fault("status twice", 0.3)) world.after(ms + world.between(1, 200_000), () => chat.tell(one, call));
      ms += world.between(10, 3_000);
    }
    if (world.fault("status of another program", 0.1)) {
      const stranger = {
        ...news,
        messageId: null,
        networkId: `foreign-${id}`,
        status: world.pick(["SENT", "FAILED"] as const),
      };
      world.after(world.between(1, 60_000), () => chat.tell(stranger, null));
    }
  }
}
