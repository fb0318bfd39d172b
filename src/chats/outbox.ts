import type { Outcome } from "../channels/adapter.ts";
import { ADAPTERS, type NetworkKind, networkOf } from "../channels/registry.ts";
import type { StatusNews } from "./answers.ts";
import { callNetwork, knownOf, save } from "./attempt.ts";
import { begin, type Delivery, type DeliveryError, hold, isOverdue, settle, wakeAt } from "./delivery.ts";
import { askLeave, type Go, heldBy, report } from "./leave.ts";
import type { Message } from "./message.ts";
import type { ChatIdentity, MessageLog, QueuedMessage } from "./message-log.ts";
import { attemptOver, type Known, takeNews, withoutEarly } from "./parts.ts";

const MESSAGES_A_RUN = 50;
/** What a status says of the channel is old news when the message is older than this. */
const CHANNEL_NEWS_MS = 3_600_000;

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
  /** Stores a message's new status. */
  change(message: Message, status: Message["status"], error: DeliveryError | null): void;
}

/**
 * Delivers a chat's messages, one at a time in the order of their numbers: one that must wait holds those behind it,
 * one that failed for good lets them pass. What is decided stands in `delivery.ts`; here it is carried out. At each
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
    for (let steps = 0; steps < MESSAGES_A_RUN && (await this.#step(host)); steps++);
  }

  /** Brings the head of the line one step further. @returns whether another step may follow at once */
  async #step(host: OutboxHost): Promise<boolean> {
    const head = host.log.head();
    if (!head) return false;
    const now = Date.now();
    const isOpen = head.delivery.startedAt !== null;
    if (isOverdue(head.delivery, now)) {
      const message = `Not delivered within a day: ${head.lastError?.message ?? "no attempt came through"}`;
      host.change(head.message, "FAILED", { code: "delivery_timeout", message });
      return true;
    }
    if (isOpen && this.#marked !== head.seq) {
      this.#settle(host, head, { outcome: "unknown", message: "The attempt was cut off", parts: head.parts.ids });
      return true;
    }
    if (!isOpen && wakeAt(head.delivery, now) > now) return false;
    const wakes = this.#wakes;
    const leave = await askLeave(host.env, host.identity, head.delivery);
    if (!host.exists()) return false;
    const current = host.log.head();
    if (current?.seq !== head.seq) return true;
    // Told meanwhile that the channel works: what it answered before is old news.
    if (leave.leave === "later" && leave.broken && wakes !== this.#wakes) return true;
    if (leave.leave === "go") return this.#attempt(host, current, leave);
    this.#marked = null;
    const held = heldBy(leave, current.delivery);
    const delivery = hold(current.delivery, held.until, held.reason, Date.now(), waitsSince(current, held.since));
    host.log.writeDelivery(head.seq, delivery, current.parts, held.error ?? current.lastError);
    // One that has waited behind others for as long as they did goes the way that they went.
    return isOverdue(delivery, Date.now());
  }

  async #attempt(host: OutboxHost, head: QueuedMessage, leave: Go): Promise<boolean> {
    const { env, identity, log } = host;
    // First: where the network is may be configured wrongly, and then no attempt was made.
    const network = networkOf(env, identity.channelKind);
    const isMarked = this.#marked === head.seq && leave.brokenSince === null;
    const started = isMarked ? head.delivery : begin(ready(head, leave), Date.now());
    this.#marked = null;
    if (started !== head.delivery) {
      log.writeDelivery(head.seq, started, head.parts, head.lastError);
      // Should this instance be lost, the attempt is found again.
      await host.standBy(wakeAt(started, Date.now()));
    }
    const { parts } = knownOf(host, head);
    const sending: Sending = { seq: head.seq, broken: null };
    this.#sending = sending;
    const outcome = await callNetwork(host, { ...head, parts }, started, leave, network).finally(() => {
      this.#sending = null;
    });
    console.log({
      event: "attempt",
      chatId: identity.chatId,
      messageId: head.message.id,
      channelId: identity.channelId,
      attempt: started.attempts,
      outcome: outcome.outcome,
      code: "code" in outcome ? outcome.code : null,
      ms: Date.now() - (started.startedAt ?? 0),
    });
    if (!host.exists()) return false;
    if (outcome.outcome === "sent" && outcome.addresses.length > 0) host.learn(outcome.addresses, false);
    if (outcome.outcome === "moved") host.learn([outcome.address], true);
    const current = log.delivered(head.seq);
    if (current?.delivery.attempts === started.attempts) {
      // A probe that comes through mends the channel.
      const mended = leave.mended + Number(leave.probe && outcome.outcome === "sent");
      sending.broken =
        this.#settle(host, current, outcome, { first: parts.ids.length, of: parts.of, mended }) ?? sending.broken;
    }
    const { broken: reason } = sending;
    const told: Outcome = reason === null ? outcome : { outcome: "channel_broken", reason, parts: [] };
    await report(env, identity, told, leave);
    return host.exists();
  }

  /**
   * Writes what an outcome made of the message, unless a status has overtaken it: then only which parts are out.
   * `attempt`: the part that it began with, how many there are, and how often the channel was mended by then.
   * @returns in which words a status said that the channel is broken
   */
  #settle(
    host: OutboxHost,
    current: QueuedMessage,
    outcome: Outcome,
    attempt?: { first: number; of: number; mended: number },
  ): string | null {
    const { unknownWaitMs } = ADAPTERS[host.identity.channelKind];
    const { message, delivery } = current;
    const step = settle(delivery, outcome, { unknownWaitMs }, Date.now(), Math.random(), current.lastError);
    const before = knownOf(host, current, attempt?.of);
    // Redacted too late: it was on its way already, and has come through.
    const isOut = step.state === "sent" && message.error?.code === "redacted";
    const known: Known = isOut ? { ...before, status: "QUEUED", error: null } : before;
    const { status, error, parts, broken } = attemptOver(known, attempt?.first ?? current.parts.ids.length, outcome);
    const waits = step.state === "waiting" && status === "QUEUED";
    const closed: Delivery = step.state === "waiting" ? step.delivery : { ...delivery, startedAt: null };
    host.log.writeDelivery(
      current.seq,
      attempt ? { ...closed, mended: attempt.mended } : closed,
      waits ? parts : withoutEarly(parts),
      step.state === "sent" || status !== "QUEUED" ? null : step.error,
    );
    if (step.state === "failed" && status === "QUEUED") host.change(message, "FAILED", step.error);
    else if (status !== message.status || error !== known.error) host.change(message, status, error);
    return broken ?? null;
  }

  /**
   * Takes what the network told of a message of ours, where it is news: it may come before the answer to the send, in
   * place of one that got lost, twice, or late. One without our id may be of the message that is under way.
   * @returns null where it is of no message; else what ends when the channel was told that it is broken, if it is
   */
  take(host: OutboxHost, news: StatusNews): Promise<void> | null {
    const current = this.#messageOf(host.log, news);
    if (!current) return null;
    const before = knownOf(host, current);
    const { messageId, networkId, status, error } = news;
    const after = takeNews(before, { networkId, status, error, isOurs: messageId !== null });
    if (!after) return null;
    save(host, current, before, after);
    if (after.broken === undefined) return Promise.resolve();
    if (this.#sending?.seq === current.seq) {
      // The attempt tells the channel, when it is over: its answer may say that the channel works.
      this.#sending.broken = after.broken;
      return Promise.resolve();
    }
    const { mended } = current.delivery;
    const isOld = Date.now() - Date.parse(current.message.updatedAt) > CHANNEL_NEWS_MS;
    if (mended === undefined || isOld) return Promise.resolve();
    const broken: Outcome = { outcome: "channel_broken", reason: after.broken, parts: [] };
    return report(host.env, host.identity, broken, { probe: false, mended });
  }

  #messageOf(log: MessageLog, { messageId, networkId }: StatusNews): QueuedMessage | null {
    const row = messageId === null ? log.byNetworkId(networkId) : log.byId(messageId);
    if (row) return log.delivered(row.seq);
    if (messageId !== null) return null;
    return this.#sending ? log.delivered(this.#sending.seq) : log.head();
  }
}

/** What a message is about to begin an attempt with: a probe ends its wait for the broken channel. */
function ready(head: QueuedMessage, { brokenSince }: Go): Delivery {
  if (brokenSince === null) return head.delivery;
  const now = Date.now();
  return hold(head.delivery, now, "broken", now, waitsSince(head, brokenSince));
}

function waitsSince({ message }: QueuedMessage, since: number): number {
  return Math.max(since, Date.parse(message.createdAt));
}
