import { answerWithin } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import type { ChannelHealth } from "../../model/organization.ts";
import { WriteBehind } from "../../platform/object/write-behind.ts";
import type { Breaker } from "./breaker.ts";

const CALL_TIMEOUT_MS = 10_000;

/** The number of the last report, when the health changed (Unix milliseconds), and whether the report arrived. */
interface StoredReport {
  channelId: string;
  number: number;
  at: number;
  isReported: boolean;
}

interface HealthHost {
  kv: SyncKvStorage;
  env: Env;
  /** Null while the channel works. */
  breaker(): Breaker | null;
  /** The organization that a channel belongs to; null if the channel is being deleted. */
  organizationOf(channelId: string): Promise<string | null>;
}

/** Reports the health of a channel to its organization. */
export class HealthReporter extends WriteBehind<{ channelId: string; health: ChannelHealth }> {
  protected readonly delayMs = 0;
  protected readonly retryMs = 15_000;
  readonly #host: HealthHost;

  constructor(host: HealthHost) {
    super();
    this.#host = host;
  }

  /** The channel broke, works again, or is tried at another time. */
  add(channelId: string): void {
    const number = (this.#stored()?.number ?? 0) + 1;
    this.#store({ channelId, number, at: Date.now(), isReported: false });
  }

  protected current() {
    const stored = this.#stored();
    if (!stored || stored.isReported) return null;
    const { channelId, number, at } = stored;
    const breaker = this.#host.breaker();
    const health: ChannelHealth = breaker
      ? { number, state: "broken", reason: breaker.reason, since: breaker.since, probeAt: breaker.probeAt }
      : { number, state: "ok", reason: null, since: at, probeAt: null };
    return { channelId, health };
  }

  protected async write({ channelId, health }: { channelId: string; health: ChannelHealth }): Promise<void> {
    const organizationId = await this.#host.organizationOf(channelId);
    if (organizationId === null) return;
    // A report that never ends would hold up all later ones.
    await answerWithin(CALL_TIMEOUT_MS, () =>
      callOrganization(this.#host.env, organizationId, (organization) =>
        organization.reportHealth(organizationId, channelId, health),
      ),
    );
  }

  protected override written({ health }: { health: ChannelHealth }): void {
    const stored = this.#stored();
    if (stored?.number === health.number) this.#store({ ...stored, isReported: true });
  }

  protected failure({ channelId }: { channelId: string }) {
    return { event: "health_not_reported", channelId };
  }

  #stored(): StoredReport | undefined {
    return this.#host.kv.get<StoredReport>("health");
  }

  #store(report: StoredReport): void {
    this.#host.kv.put("health", report);
  }
}
