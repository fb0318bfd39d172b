/** The clock of the Worker and of its objects. It runs ahead of the machine's. */

const RealDate = Date;
let aheadMs = 0;

class MovedDate extends RealDate {
  constructor(...given: []) {
    if (given.length === 0) super(MovedDate.now());
    else super(...given);
  }

  static override now(): number {
    return RealDate.now() + aheadMs;
  }
}

globalThis.Date = MovedDate as DateConstructor;

/** The machine's time for a moved one, Unix milliseconds. */
export function realTime(at: number): number {
  return at - aheadMs;
}

export function movedTime(at: number): number {
  return at + aheadMs;
}

/** Moves the clock on to a time, Unix milliseconds. It never goes back. */
export function moveTo(at: number): void {
  aheadMs = Math.max(aheadMs, at - RealDate.now());
}
