import type { WebhookAttempt } from "../../model/webhook.ts";
import type { SubscriptionHost } from "./host.ts";
import type { StoredSubscription } from "./stored-subscription.ts";
import { afterReport } from "./subscription.ts";

/** What a subscription's webhook does not know yet: how attempts ended, and a permit that was not used. */
export class Unreported {
  readonly #host: SubscriptionHost;
  readonly #id: string;
  readonly #stored: StoredSubscription;
  /** How the last attempt ended. */
  #last: WebhookAttempt | null = null;
  #unused: string | null = null;

  /** @param id the webhook's */
  constructor(host: SubscriptionHost, id: string, stored: StoredSubscription) {
    this.#host = host;
    this.#id = id;
    this.#stored = stored;
  }

  /** How an attempt ended, or what was given up; null if the webhook's object knows all. */
  get report(): WebhookAttempt | null {
    return this.#last ?? this.#stored.subscription.unreported[0] ?? null;
  }

  get unused(): string | null {
    return this.#unused;
  }

  /** The subscription got a permit. */
  granted(permit: string): void {
    this.#unused = permit;
  }

  /** A call used the permit. */
  used(): void {
    this.#unused = null;
  }

  ended(attempt: WebhookAttempt): void {
    this.#last = attempt;
  }

  /** The webhook's object answered a request for a permit that had this report. */
  answered(report: WebhookAttempt | null): void {
    this.#unused = null;
    if (report) this.#known(report);
  }

  /**
   * Sends the next report. After the last one, gives back a permit that no call used, because the owner or the event
   * was deleted. Otherwise others wait for it.
   * @returns whether there was a report
   */
  async sendNext(): Promise<boolean> {
    const { report } = this;
    if (report) {
      await this.#host.webhook(this.#id).report(report);
      this.#known(report);
      return true;
    }
    const unused = this.#unused;
    this.#unused = null;
    if (unused !== null) await this.#host.webhook(this.#id).giveBack(this.#host.subscriptionId, unused);
    return false;
  }

  #known(report: WebhookAttempt): void {
    if (this.#last === report) this.#last = null;
    this.#stored.save(afterReport(this.#stored.subscription, report));
  }
}
