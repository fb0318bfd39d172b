import { type CallPace, INITIAL_CALL_PACE, PERMIT_MS, reserveStart } from "./pace.ts";

/** A permit that counts until it is reported or too old. */
export interface HeldPermit {
  id: string;
  /** The number under which its line waited when it was granted; null if the line did not wait. */
  waiting: number | null;
  /** Unix milliseconds. */
  until: number;
}

/** How long a slot is kept for a line that was woken. */
const WOKEN_MS = 5_000;

/**
 * The permits of a webhook that count, the lines that were woken, and the starts that are reserved. Only in memory: if the
 * object is lost, its calls may run beside those of the next one for 35 seconds.
 */
export class Slots {
  pace: CallPace = INITIAL_CALL_PACE;
  readonly #permits = new Map<string, HeldPermit>();
  /** Until when each woken line has a slot. */
  readonly #woken = new Map<string, number>();
  readonly #reserved = new Map<string, number>();

  /** How many slots lines other than this one have. @param lineId null for all */
  used(lineId: string | null, now: number): number {
    for (const [line, { until }] of this.#permits) if (until <= now) this.#permits.delete(line);
    for (const [line, until] of this.#woken) if (until <= now) this.#woken.delete(line);
    const own = lineId === null ? 0 : Number(this.#permits.has(lineId)) + Number(this.#woken.has(lineId));
    return this.#permits.size + this.#woken.size - own;
  }

  /** Whether a line was woken or has a permit. */
  has(lineId: string): boolean {
    return this.#permits.has(lineId) || this.#woken.has(lineId);
  }

  heldUntil(lineId: string): number | null {
    return this.#permits.get(lineId)?.until ?? null;
  }

  reservedAt(lineId: string): number | null {
    return this.#reserved.get(lineId) ?? null;
  }

  /** When the first slot is free again at the latest; infinity if none is used. */
  nextFreeAt(): number {
    return Math.min(...[...this.#permits.values()].map(({ until }) => until), ...this.#woken.values());
  }

  /** A line gets a permit for a call that starts at `at`. */
  take(lineId: string, id: string, at: number, waiting: number | null): HeldPermit {
    const permit = { id, waiting, until: at + PERMIT_MS };
    this.#permits.set(lineId, permit);
    this.#woken.delete(lineId);
    this.#reserved.delete(lineId);
    return permit;
  }

  /** The permit of a line; null if the line no longer holds it. */
  held(lineId: string, permit: string): HeldPermit | null {
    const held = this.#permits.get(lineId);
    return held?.id === permit ? held : null;
  }

  /** A permit's call ended. @returns whether that freed a slot */
  release(lineId: string, permit: string): boolean {
    return this.held(lineId, permit) !== null && this.#permits.delete(lineId);
  }

  /** Reserves a start for a line that asks again then. */
  reserve(lineId: string, at: number): void {
    this.#woken.delete(lineId);
    this.#reserved.set(lineId, at);
  }

  /** Keeps a slot and the next start for a line that is woken. @param earliest Unix milliseconds */
  reserveForWoken(lineId: string, perSecond: number, earliest: number): void {
    const { at, pace } = reserveStart(this.pace, perSecond, earliest);
    this.pace = pace;
    this.#reserved.set(lineId, at);
    this.#woken.set(lineId, at + WOKEN_MS);
  }

  /** A woken line does not use its slot. */
  giveUp(lineId: string): void {
    this.#woken.delete(lineId);
    this.#reserved.delete(lineId);
  }

  /** A woken line has nothing to send: others get its slot and its start. @returns whether it had them */
  giveBack(lineId: string, perSecond: number): boolean {
    if (!this.#woken.has(lineId)) return false;
    this.giveUp(lineId);
    this.pace = { ...this.pace, clock: this.pace.clock - 1_000 / perSecond };
    return true;
  }

  /** No reserved start is valid now. @returns the lines that would ask again only at a later start */
  dropReservations(now: number): string[] {
    const later = [...this.#reserved].filter(([lineId, at]) => at > now && !this.#woken.has(lineId));
    this.#reserved.clear();
    this.pace = { ...this.pace, clock: 0 };
    return later.map(([lineId]) => lineId);
  }

  clear(): void {
    this.pace = INITIAL_CALL_PACE;
    for (const memory of [this.#permits, this.#woken, this.#reserved]) memory.clear();
  }
}
