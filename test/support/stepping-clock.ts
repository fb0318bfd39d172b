import { execFileSync } from "node:child_process";

/** In milliseconds. */
const EVERY_MS = 3_700;
/** In seconds. The clock is a second ahead, right, a second behind, and right again. */
const STEPS = [1, -1, -1, 1];

/**
 * Steps the machine's clock by a second every few seconds, forward and back, as a time server that corrects it does.
 * Clocks that only count on are not changed.
 * @param set sets the clock this many seconds on
 * @returns what ends the steps and puts the clock back
 * @throws Error if this process may not set the clock
 */
export function beginSteps(set = setClock): () => void {
  let ahead = 0;
  let steps = 0;
  const step = (seconds: number) => {
    set(seconds);
    ahead += seconds;
  };
  const next = () => step(STEPS[steps++ % STEPS.length] as number);
  next();
  const timer = setInterval(next, EVERY_MS);
  return () => {
    clearInterval(timer);
    if (ahead !== 0) step(-ahead);
  };
}

function setClock(seconds: number): void {
  try {
    execFileSync("date", ["--set", `${seconds} seconds`], { stdio: "pipe" });
  } catch (cause) {
    throw new Error("The clock can't be set: that takes Linux and root", { cause });
  }
}
