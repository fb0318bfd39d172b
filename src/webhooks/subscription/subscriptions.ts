import type { EventRange, SubscriptionDescription, WebhookList } from "../../model/webhook.ts";
import { causeOf } from "../../platform/log.ts";
import { earliest } from "../../platform/object/alarm.ts";
import type { SubscriptionHost } from "./host.ts";
import { LEASE_MS, SubscriptionSender } from "./sender.ts";
import { subscriptionKey } from "./stored-subscription.ts";
import { newSubscription, type Subscription } from "./subscription.ts";

/** Half of the connections that an object may have open. The others are left to the networks. */
const MAX_BUSY = 3;
/** A run that lasts this long leaves the rest to the alarm, whose handler the platform ends after 15 minutes. */
const RUN_MS = 300_000;
const VERSION = "webhooks";

/** The subscriptions of one owner, which take turns. At most three are busy at once. */
export class Subscriptions {
  readonly #hostOf: () => SubscriptionHost | null;
  /** The subscriptions in the order of their turns; the one whose last turn is longest ago comes first. */
  #opened: { host: SubscriptionHost; senders: Map<string, SubscriptionSender> } | null = null;
  readonly #runners = new Set<Promise<void>>();

  /** @param hostOf the owner; null before it exists and after its deletion */
  constructor(hostOf: () => SubscriptionHost | null) {
    this.#hostOf = hostOf;
  }

  /** The version of the list of webhooks; null if there is none yet. */
  get version(): string | null {
    return this.#all()?.host.kv.get<string>(VERSION) ?? null;
  }

  /**
   * Applies a list of webhooks. A webhook that is not in the list keeps its subscription until its object says that it
   * was deleted, because the list may be old. If a subscription can't be changed, the others are, and the owner gets
   * the list again.
   * @param startAfter a new webhook gets the events after this number
   */
  configure({ version, webhooks }: WebhookList, startAfter: number): void {
    const all = this.#all();
    if (!all) return;
    let areDone = true;
    for (const filter of webhooks) {
      const known = all.senders.get(filter.id);
      if (!known) {
        const subscription = newSubscription(filter, startAfter);
        all.host.kv.put(subscriptionKey(filter.id), subscription);
        all.senders.set(filter.id, this.#senderOf(all.host, filter.id, subscription));
        continue;
      }
      try {
        known.refilter(filter);
      } catch (error) {
        areDone = false;
        const { subscriptionId: lineId, logger } = all.host;
        logger.error({ event: "line_not_changed", lineId, webhookId: filter.id, error: causeOf(error) });
      }
    }
    if (areDone) all.host.kv.put(VERSION, version);
  }

  /** Delivers due events until none is due. Never throws. Concurrent callers share the attempts. */
  async run(): Promise<void> {
    const all = this.#all();
    if (!all) return;
    const startedAt = all.host.clock.now();
    while (this.#runners.size < MAX_BUSY && this.#nextId() !== null) {
      const runner = this.#takeTurns(all.host, startedAt).finally(() => this.#runners.delete(runner));
      this.#runners.add(runner);
    }
    await Promise.all(this.#runners);
  }

  /** When the subscriptions must run; null if nothing waits. An attempt under way may be lost with this instance. */
  dueAt(now: number): number | null {
    // A subscription that is due while all runners are busy takes its turn after another. An earlier alarm would do
    // nothing.
    const startAt = this.#runners.size < MAX_BUSY ? now : now + LEASE_MS;
    const times = [...(this.#all()?.senders.values() ?? [])].map((sender) => {
      if (sender.isBusy) return now + LEASE_MS;
      const at = sender.dueAt(now);
      return at !== null && at <= now ? startAt : at;
    });
    const due = times.filter((at) => at !== null);
    return due.length === 0 ? null : Math.max(now, Math.min(...due));
  }

  /** When the first of the subscriptions tries again that wait for it longer than a minute; null if none does. */
  longWaitEnd(now: number): number | null {
    return earliest([...(this.#all()?.senders.values() ?? [])].map((sender) => sender.longWaitEnd(now)));
  }

  /**
   * A webhook can be called again. The caller runs the subscriptions.
   * @param number the refusal that the wake-up answers
   * @param startedAt when the webhook last got a fresh start: events whose last try began before are due now
   * @returns that number: the subscription no longer waits for it; null if it has nothing to send either, and will not
   * ask
   */
  wake(webhookId: string, number: number, startedAt = 0): number | null {
    return this.#senderWith(webhookId)?.wake(number, startedAt) ? number : null;
  }

  /** A subscription as people see it; null if there is no such subscription. */
  async describe(webhookId: string): Promise<SubscriptionDescription | null> {
    return (await this.#senderWith(webhookId)?.describe()) ?? null;
  }

  /** Gives up the first event that waits. The caller runs the subscriptions. */
  skip(webhookId: string, number: number): "skipped" | "not_head" | "no_line" {
    const sender = this.#senderWith(webhookId);
    if (!sender) return "no_line";
    return sender.skip(number) ? "skipped" : "not_head";
  }

  /** Ends the first event's wait for its next try. The caller runs the subscriptions. */
  retry(webhookId: string): void {
    this.#senderWith(webhookId)?.retry();
  }

  /**
   * Sends events again. A repeat of the call changes nothing. The caller runs the subscriptions.
   * @returns how many events the webhook's filter lets through
   * @throws if too many of the replay's events are left
   */
  async replay(webhookId: string, replayId: string, ranges: EventRange[]): Promise<number> {
    return (await this.#senderWith(webhookId)?.replay(replayId, ranges)) ?? 0;
  }

  /** A message was redacted: the answers of receivers may quote it. */
  forgetResponses(): void {
    for (const sender of this.#all()?.senders.values() ?? []) sender.forgetResponses();
  }

  /**
   * The owner is being deleted: the objects of its webhooks forget what it gave up, and their replays don't wait for
   * it. If one does not answer, its next replay finds out.
   */
  async ownerDeleted(): Promise<void> {
    const all = this.#all();
    if (!all) return;
    const { host, senders } = all;
    await Promise.all(
      [...senders].map(async ([webhookId, sender]) => {
        try {
          // Before the first await, after which the events are gone.
          const replays = sender.replaysLeft();
          if (!sender.hasGivenUp && replays.length === 0) return;
          await host.webhook(webhookId).lineGone(host.subscriptionId, host.clock.now(), replays);
        } catch (error) {
          host.logger.warn({
            event: "webhook_not_told",
            lineId: host.subscriptionId,
            webhookId,
            cause: causeOf(error),
          });
        }
      }),
    );
  }

  /** The owner was deleted. An attempt under way changes nothing. */
  forget(): void {
    this.#opened = null;
  }

  async #takeTurns(host: SubscriptionHost, startedAt: number): Promise<void> {
    while (host.exists() && host.clock.now() - startedAt < RUN_MS) {
      const id = this.#nextId();
      const senders = this.#opened?.senders;
      const sender = id === null ? undefined : senders?.get(id);
      if (id === null || !sender || !senders) return;
      // To the end of the order.
      senders.delete(id);
      senders.set(id, sender);
      const isKept = await sender.turn(() => this.#opened?.senders === senders && this.#nextId() === null);
      if (!isKept) senders.delete(id);
    }
  }

  /** The subscription that is next, of those that are due. */
  #nextId(): string | null {
    const all = this.#opened;
    if (!all) return null;
    const now = all.host.clock.now();
    for (const [id, sender] of all.senders) {
      if (sender.isBusy) continue;
      const at = sender.dueAt(now);
      if (at !== null && at <= now) return id;
    }
    return null;
  }

  #senderWith(webhookId: string): SubscriptionSender | undefined {
    return this.#all()?.senders.get(webhookId);
  }

  #all() {
    if (this.#opened) return this.#opened;
    const host = this.#hostOf();
    if (!host) return null;
    const stored = [...host.kv.list<Subscription>({ prefix: subscriptionKey("") })];
    const senders = stored.map(([key, subscription]): [string, SubscriptionSender] => {
      const id = key.slice(subscriptionKey("").length);
      return [id, this.#senderOf(host, id, subscription)];
    });
    this.#opened = { host, senders: new Map(senders) };
    return this.#opened;
  }

  #senderOf(host: SubscriptionHost, id: string, subscription: Subscription): SubscriptionSender {
    return new SubscriptionSender(host, id, subscription);
  }
}
