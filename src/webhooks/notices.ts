import type { EndedAct } from "../organizations/audit-log.ts";
import type { Clock } from "../platform/clock.ts";
import type { Notice } from "./state.ts";

const AGAIN_AFTER_MS = 15_000;

/** What the organization must get: an event, or the row of its audit log for somebody who disabled the webhook. */
export type OrganizationNotice = Notice | { type: "act"; act: EndedAct; id: string };

export interface NoticePorts {
  kv: Pick<SyncKvStorage, "get" | "put">;
  clock: Pick<Clock, "now">;
  /** Tells the organization. A repeated call with the same id changes nothing. */
  notify(notice: OrganizationNotice): Promise<unknown>;
}

/** Notices that the organization must get. They are stored until it has them. */
export class Notices {
  readonly #ports: NoticePorts;
  #notBefore = 0;

  constructor(ports: NoticePorts) {
    this.#ports = ports;
  }

  add(notices: readonly OrganizationNotice[]): void {
    if (notices.length > 0) this.#ports.kv.put("notices", [...this.#pending(), ...notices]);
  }

  /** When `flush` must be called; null if nothing is pending. */
  dueAt(): number | null {
    return this.#pending().length > 0 ? Math.max(this.#notBefore, this.#ports.clock.now()) : null;
  }

  /** Sends the pending notices in order, up to the first that fails. Never throws. */
  async flush(): Promise<void> {
    if (this.#notBefore > this.#ports.clock.now()) return;
    for (let [notice] = this.#pending(); notice; [notice] = this.#pending()) {
      const { id } = notice;
      try {
        await this.#ports.notify(notice);
      } catch {
        this.#notBefore = this.#ports.clock.now() + AGAIN_AFTER_MS;
        return;
      }
      const remaining = this.#pending().filter((each) => each.id !== id);
      this.#ports.kv.put("notices", remaining);
    }
  }

  #pending(): OrganizationNotice[] {
    return this.#ports.kv.get<OrganizationNotice[]>("notices") ?? [];
  }
}
