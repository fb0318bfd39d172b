import type { KnownChat } from "../../model/organization.ts";
import { type Clock, isRecent } from "../../platform/clock.ts";
import { warnIfFails } from "../../platform/log.ts";
import type { DueWork } from "../../platform/object/due-work.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { Adoption } from "./identity.ts";

const LOOK_EVERY_MS = 60_000;

interface Parts {
  ctx: Pick<DurableObjectState, "waitUntil">;
  clock: Pick<Clock, "now">;
  adoption: Adoption;
  report: ChatReporter;
  due: DueWork;
}

/** Finds out whether the platform has given up the chat's alarm, and sets it again. It does none of the work itself. */
export class AlarmCheck {
  readonly #parts: Parts;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The chat is read or changed: looks once a minute, once what it was called for is done. */
  onCall(): void {
    const { clock, ctx, due } = this.#parts;
    const now = clock.now();
    if (isRecent(this.#lookedAt, LOOK_EVERY_MS, now)) return;
    this.#lookedAt = now;
    const look = async () => {
      await Promise.resolve();
      await due.renew(false);
    };
    ctx.waitUntil(warnIfFails({ event: "alarm_not_checked", object: "chat" }, look));
  }

  /**
   * The organization's object knows that something is overdue here. If it knows something wrong, the chat reports again.
   * @returns whether the alarm was lost
   */
  async asked(organizationId: string, { life, report: number, nextDueAt }: KnownChat): Promise<boolean> {
    const { adoption, due, report } = this.#parts;
    const isLost = await due.renew(true);
    if (adoption.identify(organizationId, null)?.life === life && report.repeatUnless(number, nextDueAt)) {
      await due.standBy();
    }
    return isLost;
  }
}
