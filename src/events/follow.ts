import type { Clock } from "../platform/clock.ts";
import type { EventPage, EventReader } from "./reader.ts";

/** Rings when there is more to read. It may be lost, or fall silent, at any moment. */
export interface Doorbell {
  readonly isLost: boolean;
  /** A newer stream took its place: the loop ends. */
  readonly isReplaced: boolean;
  /** Is called with each news that is in no log. */
  onNews?: ((text: string) => void) | undefined;
  /**
   * Calls `run` once when the doorbell is lost or rings for a number greater than `readUpTo`, also if it did so since its
   * last call of a function. Replaces a function that was not called.
   */
  onRing(readUpTo: number, run: () => void): void;
  close(): void;
}

export interface FollowPorts {
  reader: EventReader;
  openDoorbell(): Promise<Doorbell>;
  clock: Pick<Clock, "now" | "timer">;
  /** Ends the loop, also while it waits. */
  signal: AbortSignal;
}

interface FollowLimits {
  /** How many events a page has at most. */
  limit: number;
  /** When to stop waiting, Unix milliseconds. */
  endsAt: number;
}

/** How often to read without a ring: a connection that was lost without a sign is silent. */
export const READ_EVERY_MS = 20_000;

/** How long to wait when the next events can't be read. */
const HELD_MS = 3_000;

/**
 * Reads page after page. When nothing is left it waits for the doorbell, for 20 seconds at most, and reads again. So a
 * page is empty if nothing came, and the last one comes at `endsAt` or later. A page that is held is read again. The
 * caller may stop after any page.
 * @param doorbell is open already; otherwise one is opened when it is needed
 * @throws ApiError as the reader and `openDoorbell` do
 */
export async function* follow(
  ports: FollowPorts,
  { limit, endsAt }: FollowLimits,
  doorbell: Doorbell | null = null,
): AsyncGenerator<EventPage, void, undefined> {
  const { reader, clock, signal } = ports;
  let wasSilent = false;
  try {
    for (;;) {
      const before = reader.readUpTo;
      const page = await reader.read(limit);
      if (wasSilent && reader.readUpTo > before) {
        // It should have rung.
        doorbell?.close();
        doorbell = null;
      }
      wasSilent = false;
      yield page;
      if (signal.aborted || doorbell?.isReplaced) return;
      if (page.hasMore && page.heldBy === undefined) continue;
      if (clock.now() >= endsAt) return;
      if (page.heldBy !== undefined) {
        await waitFor(Math.min(HELD_MS, endsAt - clock.now()), ports);
        if (signal.aborted) return;
        continue;
      }
      if (doorbell && !doorbell.isLost) {
        const ms = Math.min(READ_EVERY_MS, endsAt - clock.now());
        wasSilent = !(await waitFor(ms, ports, doorbell));
        if (signal.aborted || doorbell.isReplaced) return;
      } else {
        // Before the next read, so that nothing is missed in between.
        doorbell = await ports.openDoorbell();
      }
    }
  } finally {
    doorbell?.close();
  }
}

/** Waits for `ms`, unless the loop ends or the doorbell rings. @returns whether it rang */
function waitFor(ms: number, { reader, clock, signal }: FollowPorts, doorbell?: Doorbell): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const onAbort = () => resolve(false);
  const cancelTimer = clock.timer(ms, onAbort);
  signal.addEventListener("abort", onAbort);
  doorbell?.onRing(reader.readUpTo, () => resolve(true));
  return promise.finally(() => {
    cancelTimer();
    signal.removeEventListener("abort", onAbort);
  });
}
