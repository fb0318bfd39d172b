import type { Turn } from "../step-call.ts";
import { withHops } from "./hops.ts";

/** Shorter turns are not told. */
const SHORT_MS = 2;

/** How many turns of the event loop this isolate has seen, while it is watched. */
let count = 0;
let isWatched = false;
/** The turn in which the last call passed. */
let passedIn = 0;

/**
 * An environment whose calls leave the thread, as they do where the service is deployed. The local runtime runs a call
 * between two objects as the next thing in its queue, and looks neither at its sockets nor at its clock before the queue is
 * empty: a chain of short steps would look like one long step. Here each call waits for a turn of the event loop before it
 * is made and after it is answered. While the isolate is watched, no two calls pass in the same turn. Nothing else waits:
 * what an object does between two calls, with or without `await`, stays one step.
 */
export function withTurns<E extends object>(env: E): E {
  return withHops(env, async (_hop, _statements, go) => {
    await nextTurn();
    try {
      return await go();
    } finally {
      await nextTurn();
    }
  });
}

async function nextTurn(): Promise<void> {
  do await scheduler.wait(0);
  while (isWatched && passedIn === count);
  passedIn = count;
}

/** Watches the event loop until `endTurns`. @returns its long turns */
export async function watchTurns(): Promise<Turn[]> {
  const turns: Turn[] = [];
  isWatched = true;
  for (let from = Date.now(); isWatched; count++) {
    await scheduler.wait(0);
    const to = Date.now();
    if (to - from > SHORT_MS) turns.push({ from, to });
    from = to;
  }
  return turns;
}

export function endTurns(): void {
  isWatched = false;
}
