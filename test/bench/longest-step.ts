import { cpuTimeOf } from "../support/cpu-time.ts";
import type { Server } from "./server.ts";

/** How long the thread that runs all objects was held up. */
export interface Held {
  /** The longest step, in ms. */
  longest: number;
  pings: number;
}

/**
 * Watches the runtime's thread in two ways while something runs, and takes the lesser figure, because each can only be too
 * high. All isolates of the local runtime share this thread.
 *
 * Objects that call each other without a pause count as one step here, and deployed they do not.
 *
 * A Worker beats each millisecond: the longest time between two beats is a step, and what the machine did meanwhile. And a
 * route that does nothing is asked again and again: the most CPU time of the thread from a question to its answer is a step,
 * with the route's own 0.3 ms, or several short ones if the questions came late.
 */
export async function longestStep(server: Server, run: () => Promise<unknown>): Promise<Held> {
  const url = (path: string) => new URL(path, server.url("floors"));
  const ask = async (path: string) => (await fetch(url(path))).json();
  await ask("/bare");
  let isOver = false;
  const beats = ask("/beat") as Promise<{ longest: number }>;
  await ask("/bare");
  const running = run().finally(() => {
    isOver = true;
  });
  running.catch(() => {});
  let used = 0;
  let pings = 0;
  for (let before = await cpuTimeOf(server.pid); !isOver; pings++) {
    await ask("/bare");
    const now = await cpuTimeOf(server.pid);
    used = Math.max(used, now - before);
    before = now;
  }
  await ask("/beat/end");
  const { longest } = await beats;
  await running;
  return { longest: Math.min(longest, used), pings };
}
