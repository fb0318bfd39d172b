import type { EndedAct } from "../../model/audit.ts";
import { type Backoff, doublingMs } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import { withDeadline } from "../../platform/deadline.ts";
import { causeOf } from "../../platform/log.ts";
import type { Notice } from "./state.ts";

/** The waits before a notice is sent again that the organization did not accept. */
const AGAIN: Backoff = { firstMs: 15_000, maxMs: 600_000 };
const CALL_MS = 10_000;

/** What the organization must get: an event, or the row of its audit log for somebody who disabled the webhook. */
export type OrganizationNotice = Notice | { type: "act"; act: EndedAct; id: string };

export interface NoticePorts {
  kv: Pick<SyncKvStorage, "get" | "put">;
  clock: Clock;
  warn(fields: { event: string } & Record<string, unknown>): void;
  /** Tells the organization. A repeated call with the same id changes nothing. */
  notify(notice: OrganizationNotice): Promise<unknown>;
}

/**
 * Notices that the organization must get. They are stored until it has them, and are sent in order. One that fails holds
 * up no other and is sent again, later each time.
 */
export class Notices {
  readonly #ports: NoticePorts;
  /** Those that failed: how often, and when they are sent again. */
  readonly #failed = new Map<string, { tries: number; nextAt: number }>();

  constructor(ports: NoticePorts) {
    this.#ports = ports;
  }

  add(notices: readonly OrganizationNotice[]): void {
    if (notices.length > 0) this.#ports.kv.put("notices", [...this.#pending(), ...notices]);
  }

  /** When `flush` must be called; null if nothing is pending. */
  dueAt(): number | null {
    const times = this.#pending().map(({ id }) => this.#nextAt(id));
    return times.length > 0 ? Math.max(Math.min(...times), this.#ports.clock.now()) : null;
  }

  /** Sends the pending notices that are due. Never throws. */
  async flush(): Promise<void> {
    const { clock, kv } = this.#ports;
    for (const notice of this.#pending()) {
      const { id } = notice;
      if (this.#nextAt(id) > clock.now()) continue;
      try {
        await withDeadline(clock, CALL_MS, () => this.#ports.notify(notice));
        this.#failed.delete(id);
        const pending = this.#pending();
        const remaining = pending.filter((each) => each.id !== id);
        // Everything may have been deleted meanwhile.
        if (remaining.length < pending.length) kv.put("notices", remaining);
      } catch (error) {
        const tries = (this.#failed.get(id)?.tries ?? 0) + 1;
        this.#failed.set(id, { tries, nextAt: clock.now() + doublingMs(AGAIN, tries - 1) });
        this.#ports.warn({ event: "notice_not_taken", notice: notice.type, id, tries, error: causeOf(error) });
      }
    }
  }

  #nextAt(id: string): number {
    return this.#failed.get(id)?.nextAt ?? 0;
  }

  #pending(): OrganizationNotice[] {
    return this.#ports.kv.get<OrganizationNotice[]>("notices") ?? [];
  }
}
