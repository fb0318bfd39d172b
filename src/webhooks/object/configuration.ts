import { and, eq, isNull } from "drizzle-orm";
import { directory, isOutage } from "../../db/client.ts";
import { webhooks } from "../../db/schema.ts";
import { unavailable } from "../../model/error.ts";
import { pick } from "../../model/pick.ts";
import type { Payload, WebhookFilter } from "../../model/webhook.ts";
import { isRecent } from "../../platform/clock.ts";
import { open, sealingKeys } from "../../secrets/sealing.ts";

/** A webhook's configuration with opened secrets. */
export interface WebhookConfig {
  organizationId: string;
  url: string;
  /** The secrets that sign now: two during the overlap of a rotation. */
  secrets: string[];
  payload: Payload;
  perSecond: number;
  concurrency: number;
  filter: WebhookFilter;
  /** Unix milliseconds. */
  createdAt: number;
}

type StoredWebhook = typeof webhooks.$inferSelect;

/** A row with its opened secrets, which are only in memory. */
interface Opened {
  row: StoredWebhook;
  secret: string;
  previous: string | null;
}

/** The maximum age of a configuration. A change also calls `refresh`. */
const MAX_AGE_MS = 60_000;
/** The minimum time between two reads that a subscription with a newer version causes. */
const MIN_AGE_MS = 1_000;

/** A webhook's configuration: its row in the directory, or during an outage the last row that this object read. */
export class WebhookConfiguration {
  readonly #env: Env;
  readonly #kv: Pick<SyncKvStorage, "get" | "put">;
  /** Null if the webhook was deleted. */
  #opened: Opened | null = null;
  /** When a read last began, Unix milliseconds. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #erasures = 0;

  constructor(env: Env, kv: Pick<SyncKvStorage, "get" | "put">) {
    this.#env = env;
    this.#kv = kv;
  }

  /**
   * The configuration, at most a minute old; null if the webhook was deleted.
   * @param version a version that exists: an older configuration is read again
   * @throws ApiError `unavailable` if no configured key opens the secrets; the outage's error if no row is known
   */
  async read(webhookId: string, version = 0): Promise<WebhookConfig | null> {
    const maxAge = (this.#opened?.row.version ?? 0) < version ? MIN_AGE_MS : MAX_AGE_MS;
    if (!isRecent(this.#readAt, maxAge)) await this.#readOnce(webhookId);
    else await this.#reading;
    return this.#opened && configOf(this.#opened, Date.now());
  }

  /** Reads the row now, for use after a change. */
  async refresh(webhookId: string): Promise<void> {
    await this.#reading;
    await this.#readOnce(webhookId);
  }

  /** The id of the webhook; null if its row was never read. */
  storedId(): string | null {
    return this.#stored()?.id ?? null;
  }

  /** Call after all storage was deleted. */
  reset(): void {
    this.#erasures++;
    this.#opened = null;
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  #readOnce(webhookId: string): Promise<void> {
    this.#reading ??= this.#read(webhookId).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(webhookId: string): Promise<void> {
    const erasures = this.#erasures;
    const readAt = Date.now();
    const row = await this.#row(webhookId);
    const opened = row && (await this.#open(row));
    if (erasures !== this.#erasures) return;
    this.#opened = opened;
    this.#readAt = readAt;
    if (row && JSON.stringify(row) !== JSON.stringify(this.#stored())) this.#kv.put("row", row);
  }

  async #row(webhookId: string): Promise<StoredWebhook | null> {
    try {
      const isActive = and(eq(webhooks.id, webhookId), isNull(webhooks.erasingAt));
      return (await directory(this.#env).select().from(webhooks).where(isActive).get()) ?? null;
    } catch (error) {
      const stored = this.#stored();
      if (!isOutage(error) || !stored) throw error;
      return stored;
    }
  }

  async #open(row: StoredWebhook): Promise<Opened> {
    const openColumn = (column: string, sealed: string) =>
      open(sealingKeys(this.#env), { id: row.id, column }, sealed).catch((error) => Promise.reject(unavailable(error)));
    const previous = row.previousSecret === null ? null : await openColumn("previous_secret", row.previousSecret);
    return { row, secret: await openColumn("secret", row.secret), previous };
  }

  #stored(): StoredWebhook | undefined {
    return this.#kv.get<StoredWebhook>("row");
  }
}

function configOf({ row, secret, previous }: Opened, now: number): WebhookConfig {
  const inOverlap = previous !== null && (row.previousUntil ?? 0) > now;
  return {
    ...pick(row, "organizationId", "url", "payload", "perSecond", "concurrency", "createdAt"),
    secrets: inOverlap ? [secret, previous] : [secret],
    filter: pick(row, "id", "version", "types", "channels"),
  };
}
