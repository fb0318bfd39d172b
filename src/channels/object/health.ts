import { answerWithin } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import type { ChannelHealth } from "../../model/organization.ts";
import { WriteBehind } from "../../platform/object/write-behind.ts";
import type { CurrentChannel } from "./current-channel.ts";
import type { Permits } from "./permits.ts";

const CALL_TIMEOUT_MS = 10_000;

/** The number of the last report, when the health changed (Unix milliseconds), and whether the report arrived. */
interface StoredReport {
  channelId: string;
  number: number;
  at: number;
  isReported: boolean;
}

interface Parts {
  env: Env;
  kv: SyncKvStorage;
  channel: CurrentChannel;
  permits: Permits;
}

/** Reports the health of a channel to its organization. */
export class HealthReporter extends WriteBehind<{ channelId: string; health: ChannelHealth }> {
  protected readonly delayMs = 0;
  protected readonly retryMs = 15_000;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    super();
    this.#parts = parts;
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
    const { breaker } = this.#parts.permits.pace;
    const health: ChannelHealth = breaker
      ? { number, state: "broken", reason: breaker.reason, since: breaker.since, probeAt: breaker.probeAt }
      : { number, state: "ok", reason: null, since: at, probeAt: null };
    return { channelId, health };
  }

  protected async write({ channelId, health }: { channelId: string; health: ChannelHealth }): Promise<void> {
    const channel = await this.#parts.channel.record(channelId);
    if (!channel) return;
    const { organizationId } = channel;
    // A report that never ends would hold up all later ones.
    await answerWithin(CALL_TIMEOUT_MS, () =>
      callOrganization(this.#parts.env, organizationId, (organization) =>
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
    return this.#parts.kv.get<StoredReport>("health");
  }

  #store(report: StoredReport): void {
    this.#parts.kv.put("health", report);
  }
}
