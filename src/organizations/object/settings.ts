import type { Limits } from "../../db/schema.ts";
import type { KnownChannel } from "../../model/organization.ts";
import type { WebhookList } from "../../model/webhook.ts";
import { warnIfFails } from "../../platform/log.ts";
import type { ChannelTable } from "./channel-table.ts";
import { readConfiguration } from "./configuration.ts";

/** How old the channels' names, the limits and the list of webhooks may be. */
const FRESH_MS = 60_000;
/** An object holds 10 GB. The rest is left for the activity of chats, and for chats that networks bring. */
const MAX_BYTES = 7_000_000_000;
const NO_WEBHOOKS: WebhookList = { version: "", webhooks: [] };

interface SettingsListener {
  /** A name or a limit of a channel changed. */
  namesChanged(): void;
  /** Channels have other bots. */
  botsChanged(): void;
  /** Other retentions of these channels are stored. */
  retentionChanged(channelIds: string[]): void;
  /** Called in the commit that stores the list. */
  webhooksChanged(list: WebhookList): void;
}

/** What an organization's object needs of the configuration in D1: a copy, at most a minute old while D1 answers. */
export class Settings {
  readonly #env: Env;
  readonly #storage: DurableObjectStorage;
  readonly #channels: ChannelTable;
  readonly #listener: SettingsListener;
  #webhooks: WebhookList | undefined;
  /** When D1 was read last, Unix milliseconds. */
  #readAt = 0;
  /** How many reads of D1 have begun, and which one is stored: reads can end in a different order. */
  #reads = 0;
  #stored = 0;

  constructor(env: Env, storage: DurableObjectStorage, channels: ChannelTable, listener: SettingsListener) {
    this.#env = env;
    this.#storage = storage;
    this.#channels = channels;
    this.#listener = listener;
  }

  /** The webhooks, and the version of this list. */
  get webhooks(): WebhookList {
    this.#webhooks ??= this.#storage.kv.get<WebhookList>("webhookList") ?? NO_WEBHOOKS;
    return this.#webhooks;
  }

  get isOld(): boolean {
    return Date.now() - this.#readAt > FRESH_MS;
  }

  /** Reads D1 again. @param isReady false after the organization was deleted @throws if D1 does not answer */
  async read(organizationId: string, isReady: () => boolean): Promise<void> {
    this.#readAt = Date.now();
    const read = ++this.#reads;
    const { channels, organization, webhooks } = await readConfiguration(this.#env, organizationId);
    if (!organization || !isReady() || read < this.#stored) return;
    this.#stored = read;
    this.setLimit(organization.limits);
    if (this.#channels.configure(channels)) this.#listener.namesChanged();
    if (this.#channels.setBots(channels)) this.#listener.botsChanged();
    const changed = this.#channels.retain(channels);
    if (changed.length > 0) this.#listener.retentionChanged(changed);
    const version = webhooks.map((webhook) => `${webhook.id}:${webhook.version}`).join();
    if (version === this.webhooks.version) return;
    this.#webhooks = { version, webhooks };
    this.#storage.kv.put("webhookList", this.#webhooks);
    this.#listener.webhooksChanged(this.#webhooks);
  }

  /** Like `read`, but logs a failure. */
  readLater(organizationId: string, isReady: () => boolean): Promise<void> {
    return warnIfFails({ event: "configuration_not_read", organizationId }, () => this.read(organizationId, isReady));
  }

  setLimit({ chats }: Limits): void {
    const { kv } = this.#storage;
    if (kv.get("chatLimit") !== chats) kv.put("chatLimit", chats);
  }

  isFull(channel: KnownChannel): boolean {
    const { kv, sql } = this.#storage;
    const chats = (ids: string[]) => this.#channels.countChats(ids);
    const limit = kv.get<number>("chatLimit");
    return (
      (channel.chatLimit !== null && chats([channel.id]) >= channel.chatLimit) ||
      (limit !== undefined && chats([...this.#channels.all().keys()]) >= limit) ||
      sql.databaseSize >= MAX_BYTES
    );
  }

  forget(): void {
    this.#webhooks = undefined;
    this.#readAt = 0;
  }
}
