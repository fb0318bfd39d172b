import type { WebhookConfig } from "./configuration.ts";
import type { Notices, OrganizationNotice } from "./notices.ts";
import type { WebhookPermitPorts } from "./ports.ts";
import type { Slots } from "./slots.ts";
import { afterNewUrl, type Change, mustStoreState, newWebhookState, type Webhook, type WebhookState } from "./state.ts";

interface Parts {
  ports: WebhookPermitPorts;
  slots: Slots;
  notices: Notices;
}

/** A webhook's state and tally in memory. A change is stored first and known then, so that a failed write loses nothing. */
export class KnownWebhook {
  readonly #ports: WebhookPermitPorts;
  readonly #slots: Slots;
  readonly #notices: Notices;
  #config: WebhookConfig | null = null;
  #webhook: Webhook | undefined;
  #url: string | undefined;

  constructor({ ports, slots, notices }: Parts) {
    this.#ports = ports;
    this.#slots = slots;
    this.#notices = notices;
  }

  /** The configuration as it was read last; null before that, and once the webhook is deleted. */
  get config(): WebhookConfig | null {
    return this.#config;
  }

  /** Reads the configuration; null if the webhook was deleted. @param version see `WebhookPermitPorts.configuration` */
  async configure(version = 0): Promise<WebhookConfig | null> {
    const config = await this.#ports.configuration(version);
    const before = this.#config;
    this.#config = config;
    if (config) this.#useUrl(config.url);
    if (before && config && config.perSecond > before.perSecond) this.#slots.freeReservations();
    return config;
  }

  get current(): Webhook {
    if (!this.#webhook) {
      const { kv, log, clock } = this.#ports;
      const state = kv.get<WebhookState>("state") ?? newWebhookState(this.#config?.createdAt ?? clock.now());
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
        if (notice) this.#notices.add([notice]);
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
    this.#notices.add(notices);
    if (state !== before && mustStoreState(before, state, clock.now())) kv.put("state", state);
  }

  /** Call once the change is stored. */
  use({ state, tally }: Webhook): void {
    const before = this.state;
    this.#webhook = { state, tally };
    if (state === before) return;
    // Starts that were reserved before a pause or a failure are no longer valid.
    if (state.name !== before.name || state.pausedUntil !== before.pausedUntil) this.#slots.freeReservations();
    this.#slots.freed.announce();
  }

  /** A subscription makes a probe. Not stored: after an eviction, the same subscription may make the next one. */
  probedBy(subscriptionId: string): void {
    const { state, tally } = this.current;
    if (state.probes)
      this.#webhook = { state: { ...state, probes: { ...state.probes, lastLine: subscriptionId } }, tally };
  }

  /** Uses the configured URL. If it is new, the webhook's state begins again. */
  #useUrl(url: string): void {
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
    this.#config = null;
    this.#webhook = undefined;
    this.#url = undefined;
  }
}
