import { ATTEMPT_TIMEOUT_MS } from "../../../src/chats/object/delivery/retry.ts";
import type { StatusNews } from "../../../src/model/chat-answers.ts";
import type { PartOutcome } from "../../../src/model/network.ts";
import type { Call } from "./calls.ts";
import type { DeliveryWorld } from "./rules.ts";
import type { Chat } from "./simulate.ts";

const RETRY = {
  outcome: "retry",
  code: "busy",
  message: "Busy",
  afterMs: null,
  wholeChannel: false,
} satisfies PartOutcome;
/** Why a message failed that the network had taken. */
export const UNDELIVERABLE = { code: "undeliverable", message: "No" };
const UNKNOWN: PartOutcome = { outcome: "unknown", message: "No answer" };

/** A network that takes calls, refuses them, loses answers, and tells what became of a message. */
export class Network {
  readonly #world: DeliveryWorld;
  #ids = 0;

  constructor(world: DeliveryWorld) {
    this.#world = world;
  }

  /** A chat sends a part of a message. @param signal ends the attempt */
  async send(chat: Chat, messageId: string, part: number, signal: AbortSignal): Promise<PartOutcome> {
    const { judge, object } = chat;
    const call = judge.calling(messageId, part, signal);
    const over = new Promise<PartOutcome>((resolve) => {
      // An adapter that ignores its deadline never returns.
      signal.onabort = () => this.#world.fault("deadline ignored", 0.3) || resolve(UNKNOWN);
    });
    const answer = object.request((reply) => {
      judge.called(call);
      this.#call(chat, call, (value) => reply({ value }));
    });
    const outcome = (await Promise.race([answer, over])) as PartOutcome;
    judge.answered(call, outcome);
    return outcome;
  }

  #call(chat: Chat, call: Call, answer: (outcome: PartOutcome) => void): void {
    const world = this.#world;
    const { judge } = chat.channel;
    judge.wire(call.grant, true);
    const [given, ms] = this.#answer(chat, call);
    world.after(ms, () => {
      judge.wire(call.grant, false);
      if (given) answer(given);
    });
    chat.mayCrash();
  }

  /** What comes back, if anything does, and after how long. */
  #answer(chat: Chat, call: Call): [PartOutcome | null, number] {
    const world = this.#world;
    const [reached, took] = [world.between(2, 200), world.between(2, 300)];
    const nothing: [null, number] = [null, ATTEMPT_TIMEOUT_MS];
    if (chat.isDeaf) return nothing;
    if (world.fault("lost on the way", 0.15))
      return world.pick<[PartOutcome | null, number]>([[UNKNOWN, reached], nothing]);
    const refusal = this.#refusal(chat);
    if (refusal) return [refusal, reached];
    chat.judge.accepted(call);
    const id = `network-${++this.#ids}`;
    world.note(() => `${chat.object.name} message ${call.seq} part ${call.part} accepted as ${id}`);
    const isDropped = world.fault("accepted and dropped", 0.2);
    if (chat.identity.channelKind === "whatsapp") {
      if (isDropped && world.fault("a copy fails late", 0.3)) this.#failLate(chat, call, id);
      else this.#tell(chat, call, id, reached + took);
    }
    if (isDropped) return [UNKNOWN, reached];
    if (world.fault("answer after the deadline", 0.05)) return nothing;
    return [{ outcome: "sent", id, addresses: [] }, reached + took];
  }

  #refusal(chat: Chat): PartOutcome | null {
    const world = this.#world;
    if (chat.channel.isBroken || chat.isPoisoned) return { outcome: "channel_broken", reason: "Bad token" };
    if (world.fault("429 for one chat", 0.1)) return { ...RETRY, afterMs: world.between(1, 60) * 1_000 };
    if (world.fault("429 for the channel", 0.1)) {
      return { ...RETRY, afterMs: world.pick([null, world.between(1, 120) * 1_000]), wholeChannel: true };
    }
    if (world.fault("5xx", 0.2)) return { ...RETRY, code: "http_503" };
    if (world.fault("worth one more try", 0.1)) return { ...RETRY, code: "odd", once: true };
    if (world.fault("refused permanently", 0.1))
      return { outcome: "failed", code: "refused", message: "No", works: true };
    if (world.fault("contact moved", 0.05)) return { outcome: "moved", address: "other" };
    return null;
  }

  /** The network gives up a call that it took and nobody heard of, perhaps after the message was sent again. */
  #failLate(chat: Chat, call: Call, networkId: string): void {
    const messageId = chat.judge.book.rows[call.seq - 1]?.message.id ?? null;
    const news: StatusNews = { messageId, networkId, status: "FAILED", error: UNDELIVERABLE, addresses: [] };
    chat.judge.statuses.failedLater(call.seq);
    this.#world.after(this.#world.between(60, 900) * 1_000, () => this.#report(chat, news, call));
  }

  /** What the network tells of a message that it took. */
  #tell(chat: Chat, call: Call, id: string, answeredMs: number): void {
    const world = this.#world;
    const ours = chat.judge.book.rows[call.seq - 1]?.message.id ?? null;
    const messageId = world.fault("status without our id", 0.3) ? null : ours;
    const news: StatusNews = { messageId, networkId: id, status: "SENT", error: null, addresses: [] };
    const told: StatusNews[] = [news, { ...news, status: "DELIVERED" }, { ...news, status: "READ" }];
    if (world.fault("status FAILED", 0.15)) {
      const isBroken = world.fault("channel broken by a status", 0.3);
      const error = { ...UNDELIVERABLE, ...(isBroken && { broken: "No money" }) };
      chat.judge.statuses.failedLater(call.seq);
      told.splice(world.between(0, 2), told.length, { ...news, status: "FAILED", error });
      // Proven wrong later, as it may be.
      if (world.random() < 0.5) told.push({ ...news, status: world.pick(["DELIVERED", "READ"] as const) });
    }
    let ms = world.fault("status before the answer", 0.3) ? world.between(2, answeredMs) : answeredMs + 500;
    if (world.fault("status late", 0.2)) ms += world.between(1, 600) * 1_000;
    if (world.fault("statuses out of order", 0.3)) told.reverse();
    for (const one of told) {
      world.after(ms, () => this.#report(chat, one, call));
      if (world.fault("status twice", 0.3))
        world.after(ms + world.between(1, 200_000), () => this.#report(chat, one, call));
      ms += world.between(10, 3_000);
    }
    if (world.fault("status of another program", 0.1)) {
      const status = world.pick(["SENT", "FAILED"] as const);
      const stranger = { ...news, messageId: null, networkId: `foreign-${id}`, status };
      world.after(world.between(1, 60_000), () => this.#report(chat, stranger, null));
    }
  }

  /** Sends a status, again and again until the chat has answered. @param call the call that it is of, if of any */
  #report(chat: Chat, news: StatusNews, call: Call | null): void {
    const world = this.#world;
    const { judge, object, identity } = chat;
    const row = judge.book.named(news);
    // Its id comes with the answer, which is under way.
    const isEarly = !row && call !== null && !call.given && judge.isSending(call.seq);
    const as = { organizationId: identity.organizationId, knownIdentity: identity, isRepeat: false };
    object.receive("applyStatus", [as, identity.channelId, news], (result) => {
      if ("error" in result) return world.after(5_000, () => this.#report(chat, news, call));
      if ((result.value as { outcome: string }).outcome !== "ok") return world.count("a status of no message");
      if (isEarly) judge.statuses.told(call.seq, news.status);
      if (!row) return;
      judge.statuses.told(row.seq, news.status);
      if (call && news.status !== "FAILED" && judge.book.callsFor(row.seq) === 1) call.isKnown = true;
    });
  }
}
