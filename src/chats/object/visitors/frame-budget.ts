export const MAX_FRAMES_A_SECOND = 50;
/** The cost of a page of older messages, because a hundred messages are read and sent. */
export const PAGE_COST = 10;

/** Limits the frames of each socket to 50 per second. Counts in memory, because an object this busy doesn't sleep. */
export class FrameBudget {
  readonly #counts = new WeakMap<WebSocket, { second: number; count: number }>();

  allows(socket: WebSocket, now: number, cost = 1): boolean {
    const second = Math.floor(now / 1_000);
    const before = this.#counts.get(socket);
    const count = (before?.second === second ? before.count : 0) + cost;
    this.#counts.set(socket, { second, count });
    return count <= MAX_FRAMES_A_SECOND;
  }
}
