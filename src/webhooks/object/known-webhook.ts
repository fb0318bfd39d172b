import type { Clock } from "../../platform/clock.ts";
import type { AttemptLog } from "./attempt-log.ts";
import type { Notices, OrganizationNotice } from "./notices.ts";
import { afterNewUrl, type Change, mustStoreState, newWebhookState, type Webhook, type WebhookState } from "./state.ts";
import type { WaitingSubscriptions } from "./waiting-subscriptions.ts";

export interface KnownWebhookPorts {
  kv: Pick<SyncKvStorage, "get" | "put">;
  clock: Pick<Clock, "now">;
  log: Pick<AttemptLog, "tally" | "subscriptionsToRetry">;
  waiting: Pick<WaitingSubscriptions, "add">;
  notices: Pick<Notices, "add">;
  /** Runs writes that are stored together or, if it throws, not at all. */
  atomically(writes: () => void): void;
  /** When the webhook was created, Unix milliseconds. */
  createdAt(): number;
  /** @param before the state before the change */
  changed(before: WebhookState, state: WebhookState): void;
}

/**
 * A webhook's state and tally in memory. A change is stored first and known then, so that a failed write loses nothing.
 */
export class KnownWebhook {
  readonly #ports: KnownWebhookPorts;
  #webhook: Webhook | undefined;
  #url: string | undefined;

  constructor(ports: KnownWebhookPorts) {
    this.#ports = ports;
  }

  get current(): Webhook {
    if (!this.#webhook) {
      const { kv, log } = this.#ports;
      const state = kv.get<WebhookState>("state") ?? newWebhookState(this.#ports.createdAt());
      this.#webhook = { state, tally: log.tally(state.epoch) };
    }
    return this.#webhook;
  }

  get state(): WebhookState {
    return this.current.state;
  }

  /** Stores a change, and uses it. @param notice one more for the organization, in the same commit */
  set(change: Change, notice?: OrganizationNotice): void {
    if (change.state !== this.state) {
      this.#ports.atomically(() => {
        this.store(change);
        if (notice) this.#ports.notices.add([notice]);
      });
    }
    this.use(change);
  }

  /** Call within `atomically`, and `use` after it. */
  store({ state, notices }: Change): void {
    const { kv, clock, log, waiting } = this.#ports;
    const before = this.state;
    if (state.startedAt !== before.startedAt) {
      // They wait for the next try of an event, perhaps for hours. Now they are woken like those that wait for the
      // webhook.
      for (const subscriptionId of log.subscriptionsToRetry()) waiting.add(subscriptionId);
    }
    this.#ports.notices.add(notices);
    if (state !== before && mustStoreState(before, state, clock.now())) kv.put("state", state);
  }

  /** Call once the change is stored. */
  use({ state, tally }: Webhook): void {
    const before = this.state;
    this.#webhook = { state, tally };
    if (state !== before) this.#ports.changed(before, state);
  }

  /** A subscription makes a probe. Not stored: after an eviction, the same subscription may make the next one. */
  probedBy(subscriptionId: string): void {
    const { state, tally } = this.current;
    if (state.probes)
      this.#webhook = { state: { ...state, probes: { ...state.probes, lastLine: subscriptionId } }, tally };
  }

  /** Uses the configured URL. If it is new, the webhook's state begins again. */
  useUrl(url: string): void {
    if (url === this.#url) return;
    const { kv, clock } = this.#ports;
    const before = kv.get<string>("url");
    if (before !== url) {
      const change = before === undefined ? null : afterNewUrl(this.current, clock.now());
      this.#ports.atomically(() => {
        kv.put("url", url);
        if (change) this.store(change);
      });
      if (change) this.use(change);
    }
    this.#url = url;
  }

  /** Call after all storage was deleted. */
  reset(): void {
    this.#webhook = undefined;
    this.#url = undefined;
  }
}
