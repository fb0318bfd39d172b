import type { ReportedWebhookState } from "../../model/webhook.ts";
import { type Backoff, doublingMs } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import { withDeadline } from "../../platform/deadline.ts";
import { causeOf } from "../../platform/log.ts";
import type { WebhookState } from "./state.ts";

/** After a change, other work of the alarm mostly comes within this time, and the report goes with it. */
const DELAY_MS = 5_000;
/** The waits before a report is sent again that the organization did not accept. */
const AGAIN: Backoff = { firstMs: 15_000, maxMs: 600_000 };
const CALL_MS = 10_000;
/** The last state that the organization accepted; absent for `ok`. */
const REPORTED = "reportedState";

export interface StateReportPorts {
  kv: Pick<SyncKvStorage, "get" | "put">;
  clock: Clock;
  warn(fields: { event: string } & Record<string, unknown>): void;
  /** Tells the organization. A repeated call changes nothing. */
  reportState(state: ReportedWebhookState): Promise<unknown>;
}

/**
 * Reports to the organization that the webhook fails, is disabled, or works again. Only the latest state is sent. A
 * webhook that never fails costs no report.
 */
export class StateReport {
  readonly #ports: StateReportPorts;
  readonly #state: () => WebhookState;
  /** The state that the organization knows; undefined until it is read. */
  #reported: ReportedWebhookState["state"] | undefined;
  #tries = 0;
  /** When the state is reported next; null if nothing is known to be due. */
  #dueAt: number | null = null;

  constructor(ports: StateReportPorts, state: () => WebhookState) {
    this.#ports = ports;
    this.#state = state;
  }

  /** When `flush` must be called; null if the organization knows the state. */
  dueAt(): number | null {
    if (!this.#pending()) this.#rest();
    else this.#dueAt ??= this.#ports.clock.now() + DELAY_MS;
    return this.#dueAt;
  }

  /** Sends what the organization does not know, also before it is due, but not before a next try. Never throws. */
  async flush(): Promise<void> {
    const { clock, kv } = this.#ports;
    const report = this.#pending();
    if (!report || (this.#tries > 0 && (this.#dueAt ?? 0) > clock.now())) return;
    try {
      await withDeadline(clock, CALL_MS, () => this.#ports.reportState(report));
      this.#rest();
      // Everything may have been deleted meanwhile.
      if (kv.get("state") !== undefined) kv.put(REPORTED, (this.#reported = report.state));
    } catch (error) {
      this.#dueAt = clock.now() + doublingMs(AGAIN, this.#tries++);
      this.#ports.warn({ event: "state_not_reported", state: report.state, tries: this.#tries, error: causeOf(error) });
    }
  }

  /** The storage was deleted. */
  forget(): void {
    this.#reported = undefined;
    this.#rest();
  }

  #rest(): void {
    this.#tries = 0;
    this.#dueAt = null;
  }

  #pending(): ReportedWebhookState | null {
    const { name, reason, since } = this.#state();
    const state = name === "trial" ? "ok" : name;
    this.#reported ??= this.#ports.kv.get<ReportedWebhookState["state"]>(REPORTED) ?? "ok";
    return state === this.#reported ? null : { state, reason, at: since };
  }
}
