import type { WebhookAttempt } from "../../../src/model/webhook.ts";
import type { Subscription } from "../../../src/webhooks/subscription/subscription.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { BEGUN_AT, type SubscriptionIdentity } from "./chat.ts";
import { PermitJudge, stateOf } from "./permit-judge.ts";
import type { Call } from "./receivers.ts";
import type { WebhookWorld } from "./rules.ts";
import { type BookedSubscription, SubscriptionsBook } from "./subscriptions-book.ts";
import { checkWait } from "./waits.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The waits between the tries of an event, as the guide lists them. */
const WAITS = [5_000, 30_000, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR];
const LAST_WAITS = [12 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR, 8 * HOUR];
const ALL_WAITS = [...WAITS, ...LAST_WAITS];
/** A permit is void after this time. */
const PERMIT_MS = 5_000;
const MAX_BUSY = 3;

/** Checks what receivers see, and what chats store. */
export class WebhookJudge {
  readonly book = new SubscriptionsBook();
  readonly permits: PermitJudge;
  readonly #world: WebhookWorld;
  readonly #chats: ReadonlyMap<string, SimulatedObject>;
  readonly #webhooks: ReadonlyMap<string, SimulatedObject>;
  readonly #underWay = new Set<Call>();
  /** Answers that are not committed yet. */
  #answers: { call: Call; apply: () => void }[] = [];
  /** Until when each webhook's events are skipped. Its object forgets it when it is deleted. */
  readonly #skips = new Map<string, number>();
  /** When each webhook got its last fresh start, by the clocks of its object and of the world. */
  readonly #starts = new Map<string, { startedAt: number; at: number }>();
  readonly #ids = new Map<string, string>();
  /** Texts of messages, and of those that were redacted, by chat. */
  readonly #texts = new Map<string, string>();
  readonly #redacted = new Map<string, Set<string>>();

  constructor(
    world: WebhookWorld,
    chats: ReadonlyMap<string, SimulatedObject>,
    webhooks: ReadonlyMap<string, SimulatedObject>,
  ) {
    this.#world = world;
    this.#chats = chats;
    this.#webhooks = webhooks;
    this.permits = new PermitJudge(world, this.book);
  }

  /** The chat's code calls `fetch`. Nothing may have changed since then when the call leaves. */
  begins({ subscriptionId, life, number, seq, text, chat, webhookId }: Call): void {
    const world = this.#world;
    const held = chat.storage.get<SubscriptionIdentity>("identity")?.life;
    world.check(
      "erased",
      held === life,
      () => `${subscriptionId} sends event ${number} of life ${life} and has life ${held}`,
    );
    const stored = seq === null ? null : (chat.storage.get<string>(`text ${seq}`) ?? null);
    world.check(
      "redacted",
      (text || null) === (stored || null),
      () => `${webhookId} is sent "${text}" of ${subscriptionId}`,
    );
  }

  /** A call leaves the chat. @returns what ends it */
  leaves(call: Call): () => void {
    const { webhookId, subscriptionId, life, number, replayId, attempt } = call;
    const subscription = this.book.subscription(webhookId, subscriptionId, life);
    this.#checkId(call);
    this.#checkUnderWay(call);
    this.#checkDisabled(call);
    if (replayId === null) {
      if (attempt === 1 && !subscription.calls.has(number)) this.#checkOrder(subscription, number);
      this.#checkTry(subscription, call);
      subscription.calls.set(number, (subscription.calls.get(number) ?? 0) + 1);
    } else this.#checkReplay(subscription, call);
    this.#underWay.add(call);
    return () => this.#underWay.delete(call);
  }

  /** The chat's code has an answer. It counts when the chat commits. @param status null if there was none */
  answered(call: Call, status: number | null, retryAfter: string | null): void {
    this.#answers.push({ call, apply: () => this.#apply(call, status, retryAfter) });
  }

  #apply(call: Call, status: number | null, retryAfter: string | null): void {
    const { webhookId, subscriptionId, life, number, replayId } = call;
    const subscription = this.book.subscription(webhookId, subscriptionId, life);
    if (status === 200) {
      if (replayId === null) this.book.ended(subscription, number, "accepted");
      else {
        subscription.replayed.add(number);
        this.book.replayedBy(subscription, replayId).add(number);
      }
      return;
    }
    this.#failed(call, retryAfter);
  }

  /** The chat knows that a call failed. */
  #failed({ webhookId, subscriptionId, life, number, replayId, chat }: Call, retryAfter: string | null): void {
    if (replayId !== null) return;
    const subscription = this.book.subscription(webhookId, subscriptionId, life);
    if (
      subscription.calls.get(number) === undefined ||
      chat.storage.get<SubscriptionIdentity>("identity")?.life !== life
    )
      return;
    const stored = chat.storage.get<Subscription>(`line ${webhookId}`);
    const failures = (subscription.failures.get(number) ?? 0) + 1;
    subscription.failures.set(number, failures);
    // `gone` and what was skipped in the meantime do not wait.
    if (stored?.head?.number !== number || stored.head.nextAt === 0 || stored.recent.at(-1)?.httpStatus === 410) return;
    const wait = Math.max(0.8 * (ALL_WAITS[failures - 1] ?? 0), Number(retryAfter ?? 0) * 1_000);
    subscription.notBefore.set(number, chat.now + wait - 1);
    subscription.plannedAt.set(number, this.#world.now);
  }

  /** A chat's object has committed. */
  chatCommitted(chat: SimulatedObject): void {
    const { storage } = chat;
    const answers = this.#answers.filter(({ call }) => call.chat === chat);
    this.#answers = this.#answers.filter(({ call }) => call.chat !== chat);
    for (const { call, apply } of answers) if (call.losses === chat.losses) apply();
    const identity = storage.get<SubscriptionIdentity>("identity");
    if (!identity) return;
    const { chatId, life } = identity;
    this.#addEvents(chat, identity);
    for (const webhookId of this.book.webhooks.keys()) {
      const stored = storage.get<Subscription>(`line ${webhookId}`);
      if (!stored) continue;
      const webhook = this.#webhooks.get(webhookId);
      if (webhook) this.#checkWait(chat, webhook);
      const subscription = this.book.subscription(webhookId, chatId, life);
      for (const report of stored.unreported) if (report.replayId === null) this.#gaveUp(subscription, report);
      const redacted = this.#redacted.get(`${chatId} ${life}`);
      if (!redacted) continue;
      for (const { response } of stored.recent) {
        const quoted = [...redacted].find((text) => response?.includes(text));
        this.#world.check("redacted", quoted === undefined, () => `${chatId} keeps an answer with "${quoted}"`);
      }
    }
    if (storage.alarm === null && !chat.isRinging) this.#checkNothingLeft(chat, identity);
  }

  /** A webhook's object has committed. */
  webhookCommitted(webhook: SimulatedObject): void {
    const { skipBefore, startedAt = 0 } = stateOf(webhook);
    const start = this.#starts.get(webhook.name);
    if (startedAt !== (start?.startedAt ?? 0)) this.#starts.set(webhook.name, { startedAt, at: this.#world.now });
    if (skipBefore !== null) this.#skips.set(webhook.name, skipBefore);
    this.permits.committed(webhook);
    for (const chat of this.#chats.values()) this.#checkWait(chat, webhook);
  }

  skipBefore(webhookId: string): number {
    return this.#skips.get(webhookId) ?? 0;
  }

  /** The events that a subscription must send and that have not ended. */
  left(subscription: BookedSubscription): number[] {
    const required = this.book.required(subscription, this.skipBefore(subscription.webhookId));
    return required.filter(({ number }) => !subscription.ended.has(number)).map(({ number }) => number);
  }

  /** How many calls of a webhook are under way. */
  underWay(webhookId: string): number {
    return [...this.#underWay].filter((call) => call.webhookId === webhookId).length;
  }

  #checkWait(chat: SimulatedObject, webhook: SimulatedObject): void {
    if (!this.book.webhooks.get(webhook.name)?.isBeingDeleted) checkWait(this.#world, chat, webhook);
  }

  #addEvents({ storage }: SimulatedObject, { chatId, life }: SubscriptionIdentity): void {
    const events = this.book.events(chatId, life);
    const rows = storage.read<{ n: number; type: string; seq: number | null; at: number }>(
      "events",
      "select n, type, seq, at from events where n > ? order by n",
      events.length,
    );
    // It is a row once another one follows.
    const isBegun = events.length + rows.length === 0;
    if (isBegun) rows.push({ n: 1, type: "chat.created", seq: null, at: storage.get<number>(BEGUN_AT) ?? 0 });
    const versions = new Map<string, number>();
    for (const webhookId of rows.length > 0 ? this.book.webhooks.keys() : []) {
      const version = storage.get<Subscription>(`line ${webhookId}`)?.filter.version;
      if (version !== undefined) versions.set(webhookId, version);
    }
    const of = `${chatId} ${life}`;
    for (const { n, type, seq, at } of rows) {
      const text = this.#texts.get(`${of} ${seq}`);
      if (type === "message.received") this.#texts.set(`${of} ${n}`, storage.get(`text ${n}`) ?? "");
      else if (type === "message.redacted" && text) {
        this.#redacted.set(of, (this.#redacted.get(of) ?? new Set()).add(text));
      }
      events.push({ number: n, type, at, committedAt: this.#world.now, versions });
    }
  }

  #gaveUp(subscription: BookedSubscription, report: WebhookAttempt): void {
    const { number, first = number, code, httpStatus } = report;
    const key = `${first} ${number}`;
    if (subscription.seen.has(key)) return;
    subscription.seen.add(key);
    const world = this.#world;
    world.count(`given up: ${httpStatus === null ? code : "its tries"}`);
    for (const event of this.book.givenUp(subscription, report)) {
      this.book.ended(subscription, event.number, "given up");
      if (code === "skipped") continue;
      const age = (this.#chats.get(subscription.chatId)?.now ?? 0) - event.at;
      const calls = subscription.calls.get(event.number) ?? 0;
      const isRefused =
        httpStatus !== null && httpStatus >= 400 && httpStatus < 500 && ![401, 404].includes(httpStatus);
      const least = isRefused && httpStatus !== 429 ? 5 : 15;
      const isOver = code === "expired" ? age > 30 * DAY : calls >= least;
      const text = () =>
        `${subscription.chatId} gave event ${event.number} up with ${code} after ${calls} calls, ${age} ms old`;
      world.check("tries", isOver, text);
    }
  }

  /** Without an alarm, each event was reported, and each subscription has sent what it must. */
  #checkNothingLeft({ storage }: SimulatedObject, { chatId, life }: SubscriptionIdentity): void {
    const world = this.#world;
    const newest = this.book.events(chatId, life).length;
    const reported = storage.get<{ events: number }>("reported")?.events ?? 0;
    world.check(
      "alarm",
      reported === newest,
      () => `${chatId} has no alarm and ${newest} events, ${reported} reported`,
    );
    for (const { id, isDeleted } of this.book.webhooks.values()) {
      const stored = storage.get<Subscription>(`line ${id}`);
      if (!stored || isDeleted) continue;
      const left = this.left(this.book.subscription(id, chatId, life));
      world.check("alarm", left.length === 0, () => `${chatId} has no alarm and owes ${id} the events ${left.join()}`);
      const { unreported } = stored;
      world.check("alarm", unreported.length === 0, () => `${chatId} has no alarm and owes ${id} a report`);
    }
  }

  #checkId({ eventId, subscriptionId, life, number }: Call): void {
    const event = `${subscriptionId} ${life} ${number}`;
    const known = this.#ids.get(eventId) ?? event;
    this.#world.check("identity", known === event, () => `${eventId} is event ${event} and event ${known}`);
    this.#ids.set(eventId, event);
    const same = `id of ${event}`;
    const before = this.#ids.get(same) ?? eventId;
    this.#world.check("identity", before === eventId, () => `event ${event} has the ids ${before} and ${eventId}`);
    this.#ids.set(same, eventId);
  }

  #checkUnderWay({ webhookId, subscriptionId, chat, losses }: Call): void {
    const world = this.#world;
    const others = [...this.#underWay];
    const ofWebhook = others.filter((call) => call.webhookId === webhookId);
    const ofChat = others.filter((call) => call.chat === chat && call.losses === losses);
    world.check(
      "slots",
      ofChat.length < MAX_BUSY,
      () => `${subscriptionId} makes ${ofChat.length + 1} calls at a time`,
    );
    if (this.permits.hasLost(webhookId)) return;
    const isSame = ofWebhook.some((call) => call.subscriptionId === subscriptionId);
    world.check("single", !isSame, () => `${subscriptionId} makes two calls of ${webhookId} at a time`);
    const most = this.book.webhooks.get(webhookId)?.concurrency ?? 0;
    world.check(
      "concurrency",
      ofWebhook.length < most,
      () => `${webhookId} gets ${ofWebhook.length + 1} calls at a time`,
    );
  }

  #checkDisabled({ webhookId, subscriptionId }: Call): void {
    const since = this.permits.disabledSince(webhookId);
    const text = () =>
      `${subscriptionId} calls ${webhookId}, which was disabled ${this.#world.now - (since ?? 0)} ms before`;
    this.#world.check("disabled", since === null || this.#world.now - since <= PERMIT_MS, text);
  }

  /** Calls that ask for an earlier replay may arrive late. */
  #checkReplay(subscription: BookedSubscription, { webhookId, subscriptionId, number, replayId }: Call): void {
    const world = this.#world;
    world.count("a replay's call");
    const last = this.#webhooks.get(webhookId)?.storage.get<{ id: string }>("replay")?.id;
    if (replayId === null || replayId !== last) return;
    const isNew = !this.book.replayedBy(subscription, replayId).has(number);
    world.check("once", isNew, () => `${subscriptionId} sends ${webhookId} event ${number} again in the same replay`);
  }

  #checkOrder(subscription: BookedSubscription, number: number): void {
    const before = this.left(subscription).filter((each) => each < number);
    const text = () => `${subscription.chatId} sends ${subscription.webhookId} event ${number} before ${before.join()}`;
    this.#world.check("order", before.length === 0, text);
  }

  #checkTry(
    subscription: BookedSubscription,
    { number, previous, subscriptionId, webhookId, attempt, chat }: Call,
  ): void {
    const world = this.#world;
    const end = subscription.ended.get(number);
    world.check(
      "once",
      end === undefined,
      () => `${subscriptionId} sends ${webhookId} event ${number} again, which was ${end}`,
    );
    const age = chat.now - (this.book.events(subscriptionId, subscription.life)[number - 1]?.at ?? 0);
    // The clock of a new instance may be behind the clock of the one before it.
    const isFresh = age <= 30 * DAY + MINUTE;
    world.check("tries", isFresh, () => `${subscriptionId} sends event ${number}, which is ${age / DAY} days old`);
    if (subscription.calls.has(number)) world.count("an event is sent again");
    const known = subscription.lastEnded;
    const text = () => `event ${number} of ${subscriptionId} names ${previous} as the one before it, not ${known}`;
    world.check("previous", previous === known, text);
    const early = (subscription.notBefore.get(number) ?? 0) - chat.now;
    const startedAt = this.#starts.get(webhookId)?.at ?? Number.NEGATIVE_INFINITY;
    // A fresh start of the webhook brings forward what was planned before it. Clocks differ.
    const isPlanned = (subscription.plannedAt.get(number) ?? 0) > startedAt + MINUTE;
    world.check(
      "schedule",
      early <= 0 || !isPlanned,
      () => `${subscriptionId} makes try ${attempt} of event ${number} ${early} ms early`,
    );
  }
}
