import { answerWithin } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import type { ChannelHealth } from "../../model/organization.ts";
import { isRecent } from "../../platform/clock.ts";
import { WriteBehind } from "../../platform/object/write-behind.ts";
import type { CurrentChannel } from "./current-channel.ts";
import type { Permits } from "./permits.ts";
import type { Warnings } from "./warnings.ts";

const CALL_TIMEOUT_MS = 10_000;
/** The minimum time between two reports of counts alone. */
const COUNTS_MS = 60_000;

/** The number of the last report, when the state changed (Unix milliseconds), and whether the report arrived. */
interface StoredReport {
  channelId: string;
  number: number;
  /** Null if it never did. */
  at: number | null;
  isReported: boolean;
  /** Whether only counts of warnings changed. */
  isCounts?: boolean;
  /** When the last report arrived, Unix milliseconds. */
  reportedAt?: number | undefined;
}

type Reported = Omit<ChannelHealth, "since"> & { since: number | null };

interface Parts {
  env: Env;
  kv: SyncKvStorage;
  channel: CurrentChannel;
  permits: Permits;
  warnings: Warnings;
}

/** Reports the health of a channel to its organization. */
export class HealthReporter extends WriteBehind<{ channelId: string; health: Reported }> {
  protected readonly delayMs = 0;
  protected readonly retryMs = 15_000;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    super();
    this.#parts = parts;
  }

  /** `state`: the channel broke, works again, or is tried at another time. The others: its warnings changed. */
  add(channelId: string, what: "state" | "codes" | "counts"): void {
    const { number = 0, at = null, isReported = true, isCounts = true, reportedAt } = this.#stored() ?? {};
    this.#store({
      channelId,
      number: number + 1,
      at: what === "state" ? Date.now() : at,
      isReported: false,
      isCounts: what === "counts" && (isReported || isCounts),
      reportedAt,
    });
  }

  override dueAt(): number | null {
    const { isReported = true, isCounts, reportedAt = 0 } = this.#stored() ?? {};
    const now = Date.now();
    const rests = !isReported && isCounts && isRecent(reportedAt, COUNTS_MS, now);
    return rests ? reportedAt + COUNTS_MS : super.dueAt();
  }

  protected current() {
    const stored = this.#stored();
    if (!stored || stored.isReported) return null;
    const { channelId, number, at, isCounts, reportedAt = 0 } = stored;
    if (isCounts && isRecent(reportedAt, COUNTS_MS, Date.now())) return null;
    const { breaker } = this.#parts.permits.pace;
    const state: Reported = breaker
      ? { number, state: "broken", reason: breaker.reason, since: breaker.since, probeAt: breaker.probeAt }
      : { number, state: "ok", reason: null, since: at, probeAt: null };
    return { channelId, health: { ...state, ...this.#parts.warnings.shown() } };
  }

  protected async write({ channelId, health }: { channelId: string; health: Reported }): Promise<void> {
    const channel = await this.#parts.channel.record(channelId);
    if (!channel) return;
    const { organizationId } = channel;
    const since = health.since ?? channel.row.channel.createdAt;
    // A report that never ends would hold up all later ones.
    await answerWithin(CALL_TIMEOUT_MS, () =>
      callOrganization(this.#parts.env, organizationId, (organization) =>
        organization.reportHealth(organizationId, channelId, { ...health, since }),
      ),
    );
  }

  protected override written({ health }: { health: Reported }): void {
    const stored = this.#stored();
    if (!stored) return;
    this.#store({ ...stored, isReported: stored.number === health.number, reportedAt: Date.now() });
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
