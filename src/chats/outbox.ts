import type { Outbound, Outcome } from "../channels/adapter.ts";
import { NEAR_MS } from "../channels/pace.ts";
import { ADAPTERS, networkOf } from "../channels/registry.ts";
import type { StatusNews } from "./answers.ts";
import {
  ATTEMPT_TIMEOUT_MS,
  begin,
  type Delivery,
  type DeliveryError,
  hold,
  isOverdue,
  settle,
  statusAfter,
  wakeAt,
} from "./delivery.ts";
import { askLeave, type Go, heldBy, report } from "./leave.ts";
import type { Message } from "./message.ts";
import type { ChatIdentity, MessageLog, QueuedMessage } from "./message-log.ts";

const MESSAGES_A_RUN = 50;
/** After its deadline an attempt has this long to say what it knows. */
const LAST_WORDS_MS = 1_000;
const NO_ANSWER = "The network did not answer in time";

/** What the outbox needs of its chat. */
export interface OutboxHost {
  env: Env;
  log: MessageLog;
  identity: ChatIdentity & { channelKind: "whatsapp" | "telegram" };
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
      this.#settle(host, head, { outcome: "unknown", message: "The attempt was cut off", parts: head.parts });
      return true;
    }
    if (!isOpen && wakeAt(head.delivery, now) > now) return false;
    const wakes = this.#wakes;
    const leave = await askLeave(host.env, host.identity, head.delivery);
    if (leave.leave === "go") await startOf(leave);
    if (!host.exists()) return false;
    const current = host.log.head();
    if (current?.seq !== head.seq) return true;
    // Told meanwhile that the channel works: what it answered before is old news.
    if (leave.leave === "later" && leave.broken && wakes !== this.#wakes) return true;
    if (leave.leave === "go") return this.#attempt(host, current, leave);
    this.#marked = null;
    const held = heldBy(leave);
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
    const adapter = ADAPTERS[identity.channelKind];
    const outcome = await withDeadline((signal) =>
      adapter.send(outbound(host, head), leave.credentials, network, signal),
    ).catch((): Outcome => ({ outcome: "unknown", message: NO_ANSWER, parts: head.parts }));
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
    if (current?.delivery.attempts === started.attempts) this.#settle(host, current, outcome);
    await report(env, identity, outcome, leave);
    return host.exists();
  }

  /** Writes what an outcome made of the message, unless a status has overtaken it: then only which parts are out. */
  #settle(host: OutboxHost, head: QueuedMessage, outcome: Outcome): void {
    const { unknownWaitMs } = ADAPTERS[host.identity.channelKind];
    const step = settle(head.delivery, outcome, { unknownWaitMs }, Date.now(), Math.random(), head.lastError);
    const delivery: Delivery = step.state === "waiting" ? step.delivery : { ...head.delivery, startedAt: null };
    // A status may have told of a part that this attempt does not know to be out.
    const parts = [...new Set([...head.parts, ...outcome.parts])];
    const { status, error } = head.message;
    const lastError = step.state === "sent" || status !== "QUEUED" ? null : step.error;
    host.log.writeDelivery(head.seq, delivery, parts, lastError);
    // Redacted too late: it was on its way already, and has come through.
    if (step.state === "sent" && (status === "QUEUED" || error?.code === "redacted"))
      host.change(head.message, "SENT", null);
    if (step.state === "failed" && status === "QUEUED") host.change(head.message, "FAILED", step.error);
  }
}

/** Waits for a start; no longer than one is ever away, should the channel's clock be another. */
async function startOf({ at }: Go): Promise<void> {
  const ms = Math.min(at - Date.now(), NEAR_MS);
  if (ms > 0) await scheduler.wait(ms);
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

/**
 * Takes what the network told of a message of ours, where it is news. It may come before the answer to the send, or in
 * place of one that got lost: then it shows that a part is out, and a message with more parts than that waits on.
 */
export function takeStatus(host: OutboxHost, known: QueuedMessage, told: Omit<StatusNews, "messageId" | "addresses">) {
  const { message, delivery, parts, lastError } = known;
  if (message.status === "QUEUED" && told.status !== "FAILED") {
    const out = [...new Set([...parts, told.networkId])];
    if (out.length > parts.length) host.log.writeDelivery(known.seq, delivery, out, lastError);
    if (out.length < ADAPTERS[host.identity.channelKind].partsOf(outbound(host, known))) return;
  }
  const status = statusAfter(message.status, told.status);
  if (status) host.change(message, status, status === "FAILED" ? told.error : null);
}

/** Not `AbortSignal.timeout`: its timer would keep the object in memory long after the answer. */
async function withDeadline<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timers = [
    setTimeout(() => controller.abort(), ATTEMPT_TIMEOUT_MS),
    setTimeout(() => reject(new Error(NO_ANSWER)), ATTEMPT_TIMEOUT_MS + LAST_WORDS_MS),
  ];
  try {
    return await Promise.race([work(controller.signal), over]);
  } finally {
    timers.forEach(clearTimeout);
  }
}

function outbound(host: OutboxHost, { message, parts, template }: QueuedMessage): Outbound {
  const { chatId } = host.identity;
  const { id: messageId, type, content, mediaUrl, text } = message;
  return { chatId, messageId, address: host.address(), type, content, mediaUrl, text, template, partsSent: parts };
}
