import type { EventRange, WebhookList } from "../../model/webhook.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { SubscriptionHost } from "./host.ts";
import { Subscriptions } from "./subscriptions.ts";

/** What subscriptions need of the object that they run in. */
export interface SubscriptionsObject {
  ctx: Pick<DurableObjectState, "waitUntil">;
  alarm: StandingAlarm;
}

/** The subscriptions of a Durable Object. They run beside its other work. */
export class ObjectSubscriptions implements DuePart {
  readonly all: Subscriptions;
  /** How often the owner was deleted. */
  deletions = 0;
  readonly #object: SubscriptionsObject;

  /** @param hostOf the owner; null before it exists and after its deletion */
  constructor(object: SubscriptionsObject, hostOf: () => SubscriptionHost | null) {
    this.all = new Subscriptions(hostOf);
    this.#object = object;
  }

  configure(list: WebhookList, startAfter: number): void {
    this.all.configure(list, startAfter);
    this.start();
  }

  /** When the subscriptions must run; null if nothing waits. */
  dueAt(now: number): number | null {
    return this.all.dueAt(now);
  }

  /** No alarm waits for them: a receiver may be slow. */
  run(): void {
    this.start();
  }

  /** Sends due events. The output gate delays each call until the event that it sends is on disk. */
  start(): void {
    this.#object.ctx.waitUntil(this.#run());
  }

  /** See `Subscriptions.wake`. @param depth see `WebhookPermitRequest` */
  async wake(webhookId: string, number: number, startedAt?: number, depth = 1): Promise<number | null> {
    this.#object.alarm.depth = depth;
    await this.#object.alarm.standing();
    const answer = this.all.wake(webhookId, number, startedAt);
    await this.#startSafely();
    return answer;
  }

  async replay(webhookId: string, replayId: string, ranges: EventRange[]): Promise<number> {
    await this.#object.alarm.standing();
    const found = await this.all.replay(webhookId, replayId, ranges);
    await this.#startSafely();
    return found;
  }

  async skip(webhookId: string, number: number): Promise<ReturnType<Subscriptions["skip"]>> {
    await this.#object.alarm.standing();
    const outcome = this.all.skip(webhookId, number);
    if (outcome === "skipped") await this.#startSafely();
    return outcome;
  }

  async retry(webhookId: string): Promise<void> {
    await this.#object.alarm.standing();
    this.all.retry(webhookId);
    await this.#startSafely();
  }

  /** The owner is being deleted; see `Subscriptions.ownerDeleted`. */
  ownerDeleted(): void {
    this.#object.ctx.waitUntil(this.all.ownerDeleted());
  }

  /** The owner was deleted. */
  forget(): void {
    this.deletions++;
    this.all.forget();
  }

  /** With an alarm in the same commit, so that the work is not lost with this instance. */
  async #startSafely(): Promise<void> {
    await this.#standBy();
    this.start();
  }

  async #run(): Promise<void> {
    await this.all.run();
    await this.#standBy();
  }

  #standBy(): Promise<void> {
    return this.#object.alarm.by(this.all.dueAt(Date.now()));
  }
}
