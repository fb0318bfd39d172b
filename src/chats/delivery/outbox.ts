import type { Outcome } from "../../channels/adapter.ts";
import { ADAPTERS, type NetworkKind, networkOf } from "../../channels/registry.ts";
import type { ChatIdentity, DeliveryKnown, MessageLog, QueuedMessage } from "../log/message-log.ts";
import { newsWithoutWords } from "../log/redaction.ts";
import type { Message } from "../message.ts";
import type { StatusNews } from "../rpc.ts";
import { callNetwork, knownOf, save } from "./attempt.ts";
import {
  afterAttempt,
  afterHold,
  epochAfter,
  isSameAttempt,
  isStalePermit,
  judged,
  mayGoOn,
  newsOfChannel,
  nextStep,
  rowOfStatus,
  startAttempt,
} from "./head.ts";
import { applyNews } from "./parts.ts";
import { acquirePermit, type Granted, report } from "./permit.ts";
import { type DeliveryError, isOverdue, wakeAt } from "./schedule.ts";

/** The message that is being sent; `broken`: what a status said in the meantime of why the channel can't be used. */
interface Sending {
  seq: number;
  broken: string | null;
}

/** What the outbox needs of its chat. */
export interface OutboxHost {
  env: Env;
  log: MessageLog;
  identity: ChatIdentity & { channelKind: NetworkKind };
  /** False once the chat was erased: then there is no log any more. */
  exists(): boolean;
  /** Has the alarm ring at `at` or before. */
  standBy(at: number): Promise<void>;
  /** Where the contact is reached now. */
  address(): string;
  /** The network told further addresses of the contact; `moved`: the first one is the one to use from now on. */
  learn(addresses: string[], moved: boolean): void;
  /** An attempt is over. */
  attempted(outcome: Outcome): void;
  /** Stores a message's new status and, in the same statement, what its delivery knows: neither is true without the other. */
  change(message: Message, status: Message["status"], error: DeliveryError | null, known?: DeliveryKnown): void;
}

/**
 * Delivers a chat's messages, one at a time in the order of their numbers: one that must wait holds those behind it,
 * one that failed for good lets them pass. What is decided stands in `line.ts`; here it is carried out. At each
 * `await` the object may be lost, and a status, a redaction or an erasure may come in between: so the row says what is
 * under way before the network is called, and is read again after.
 */
export class Outbox {
  #run: Promise<void> | null = null;
  /** The message whose first attempt the insert marked: this instance has yet to make it. */
  #marked: number | null = null;
  #sending: Sending | null = null;
  #wakes = 0;

  /** The channel works again. */
  wake(): void {
    this.#wakes++;
  }

  /** Whether a run is under way: it takes what is stored meanwhile. */
  get running(): boolean {
    return this.#run !== null;
  }

  /** The insert marked the first attempt of this message. Any other open attempt in a row was lost with its instance. */
  adopt(seq: number): void {
    this.#marked = seq;
  }

  /** Works until the line is empty or must wait. One run at a time: who comes meanwhile waits for its end. */
  run(host: OutboxHost): Promise<void> {
    this.#run ??= this.#steps(host).finally(() => {
      this.#run = null;
    });
    return this.#run;
  }

  async #steps(host: OutboxHost): Promise<void> {
    const begunAt = Date.now();
    for (let steps = 0; mayGoOn(steps, begunAt, Date.now()) && (await this.#step(host)); steps++);
  }

  /** Brings the head of the line one step further. @returns whether another step may follow at once */
  async #step(host: OutboxHost): Promise<boolean> {
    const head = host.log.head();
    if (!head) return false;
    const turn = nextStep(head, this.#marked === head.seq, Date.now());
    if (turn.turn === "wait") return false;
    if (turn.turn === "expire") {
      host.change(head.message, "FAILED", turn.error);
      return true;
    }
    if (turn.turn === "close") {
      this.#settle(host, head, turn.outcome);
      return true;
    }
    const asked = { seq: head.seq, wakes: this.#wakes };
    const permit = await acquirePermit(host.env, host.identity, turn.reservedAt, head.delivery.brokeIn ?? null);
    if (!host.exists()) return false;
    const current = host.log.head();
    const isBroken = permit.outcome === "later" && permit.broken !== null;
    if (!current || isStalePermit(isBroken, asked, { seq: current.seq, wakes: this.#wakes })) return true;
    if (permit.outcome === "granted") return this.#attempt(host, current, permit);
    this.#marked = null;
    const { delivery, lastError } = afterHold(current, permit, Date.now(), Math.random());
    host.log.writeDelivery(head.seq, delivery, current.parts, lastError);
    // One that has waited behind others for as long as they did goes the way that they went.
    return isOverdue(delivery, Date.now());
  }

  async #attempt(host: OutboxHost, head: QueuedMessage, permit: Granted): Promise<boolean> {
    const { env, identity, log } = host;
    // First: where the network is may be configured wrongly, and then no attempt was made.
    const network = networkOf(env, identity.channelKind);
    const delivery = startAttempt(head, permit.brokenSince, this.#marked === head.seq, Date.now());
    this.#marked = null;
    if (delivery !== head.delivery) {
      log.writeDelivery(head.seq, delivery, head.parts, head.lastError);
      // Should this instance be lost, the attempt is found again.
      await host.standBy(wakeAt(delivery, Date.now()));
    }
    const { parts } = knownOf(host, head);
    const sending: Sending = { seq: head.seq, broken: null };
    this.#sending = sending;
    const answer = await callNetwork(host, { ...head, parts }, delivery, permit, network).finally(() => {
      this.#sending = null;
    });
    const brokeIn = head.delivery.brokeIn ?? null;
    const outcome = judged(answer, permit, brokeIn);
    console.log({
      event: "attempt",
      chatId: identity.chatId,
      messageId: head.message.id,
      channelId: identity.channelId,
      attempt: delivery.attempts,
      outcome: outcome.outcome,
      code: "code" in outcome ? outcome.code : null,
      ms: Date.now() - (delivery.startedAt ?? 0),
    });
    if (!host.exists()) return false;
    host.attempted(outcome);
    if (outcome.outcome === "sent" && outcome.addresses.length > 0) host.learn(outcome.addresses, false);
    if (outcome.outcome === "moved") host.learn([outcome.address], true);
    const current = log.delivered(head.seq);
    if (isSameAttempt(current, delivery)) {
      const attempt = { first: parts.ids.length, of: parts.of, epoch: epochAfter(permit, outcome) };
      sending.broken = this.#settle(host, current, outcome, attempt) ?? sending.broken;
    }
    const { broken: reason } = sending;
    const told: Outcome = reason === null ? outcome : { outcome: "channel_broken", reason, parts: [] };
    await report(env, identity, told, { ...permit, brokeIn });
    return host.exists();
  }

  /**
   * Writes what an outcome made of the message. `attempt`: the part that it began with, how many there are, and how
   * often the channel was mended by then.
   * @returns in which words a status said that the channel is broken
   */
  #settle(
    host: OutboxHost,
    current: QueuedMessage,
    outcome: Outcome,
    attempt?: { first: number; of: number; epoch: number },
  ): string | null {
    const { message, seq } = current;
    const policy = ADAPTERS[host.identity.channelKind];
    const known = knownOf(host, current, attempt?.of);
    const after = afterAttempt(current, known, outcome, policy, Date.now(), Math.random(), attempt);
    if (after.status !== message.status || after.error !== message.error) {
      host.change(message, after.status, after.error, after);
    } else host.log.writeDelivery(seq, after.delivery, after.parts, after.lastError);
    return after.broken;
  }

  /** A message is about to be blanked: how many parts it has can't be told from it afterwards. */
  beforeRedaction(host: OutboxHost | null, seq: number): void {
    const row = host?.log.delivered(seq);
    if (!host || row?.message.direction !== "OUTBOUND" || row.parts.of !== undefined) return;
    const { of } = knownOf(host, row).parts;
    if (of > 1) host.log.writeDelivery(seq, row.delivery, { ...row.parts, of }, row.lastError);
  }

  /**
   * Takes what the network told of a message of ours, where it is news: it may come before the answer to the send, in
   * place of one that got lost, twice, or late. One without our id may be of the message that is under way.
   * @returns null where it is of no message; else what ends when the channel was told that it is broken, if it is
   */
  applyStatus(host: OutboxHost, news: StatusNews): Promise<void> | null {
    const current = rowOfStatus(host.log, news, this.#sending?.seq ?? null);
    if (!current) return null;
    const before = knownOf(host, current);
    const { messageId, networkId, status, error } = news;
    const told = { networkId, status, error, isOurs: messageId !== null };
    const after = applyNews(before, error && host.log.isRedacted(current.seq) ? newsWithoutWords(told) : told);
    if (!after) return null;
    save(host, current, before, after);
    if (after.broken === undefined) return Promise.resolve();
    if (this.#sending?.seq === current.seq) {
      // The attempt tells the channel, when it is over: its answer may say that the channel works.
      this.#sending.broken = after.broken;
      return Promise.resolve();
    }
    const attempt = newsOfChannel(current, Date.now());
    if (!attempt) return Promise.resolve();
    const broken: Outcome = { outcome: "channel_broken", reason: after.broken, parts: [] };
    return report(host.env, host.identity, broken, attempt);
  }
}
