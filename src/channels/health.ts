import { eq } from "drizzle-orm";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import { WriteBehind } from "../platform/write-behind.ts";
import type { Breaker } from "./breaker.ts";

type Health = { channelId: string; breaker: Breaker | null };

/** Writes a channel's health to the directory. Storage holds the channel's id under `health` until it is written. */
export class HealthBuffer extends WriteBehind<Health> {
  protected readonly delayMs = 0;
  protected readonly retryMs = 15_000;
  readonly #kv: SyncKvStorage;
  readonly #env: Env;
  readonly #breaker: () => Breaker | null;

  /** @param breaker the channel's breaker; null while the channel works */
  constructor({ kv }: DurableObjectStorage, env: Env, breaker: () => Breaker | null) {
    super();
    this.#kv = kv;
    this.#env = env;
    this.#breaker = breaker;
  }

  /** Call after the channel broke or recovered. */
  add(channelId: string): void {
    this.#kv.put("health", channelId);
  }

  protected current(): Health | null {
    const channelId = this.#kv.get<string>("health");
    return channelId === undefined ? null : { channelId, breaker: this.#breaker() };
  }

  protected async write({ channelId, breaker }: Health): Promise<void> {
    const health = breaker
      ? { healthState: "broken" as const, healthReason: breaker.reason, healthSince: breaker.since }
      : { healthState: "ok" as const, healthReason: null, healthSince: Date.now() };
    await directory(this.#env).update(channels).set(health).where(eq(channels.id, channelId));
  }

  protected override written({ breaker }: Health): void {
    if (this.#breaker()?.since === breaker?.since) this.#kv.delete("health");
  }

  protected failure({ channelId }: Health) {
    return { event: "health_not_written", channelId };
  }
}
