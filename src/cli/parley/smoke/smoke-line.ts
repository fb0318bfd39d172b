import type { State } from "../check.ts";
import type { SmokeCheck } from "./smoke.ts";

export type Color = "green" | "yellow" | "red" | "dim";

/** How a check begins, by its state. */
export const SIGNS = {
  ok: ["✓", "green"],
  warns: ["!", "yellow"],
  fails: ["✗", "red"],
  unknown: ["·", "dim"],
} as const satisfies Record<State, readonly [string, Color]>;

/** A step's line, with its time. */
export function smokeLine(
  { what, state, found, advice, ms }: SmokeCheck,
  paint: (color: Color, text: string) => string,
): string {
  const [sign, color] = SIGNS[state];
  const todo = advice === null ? "" : `. To do: ${advice}`;
  const time = ms === 0 ? "" : ` ${paint("dim", `(${(ms / 1_000).toFixed(1)} s)`)}`;
  return `${paint(color, sign)} ${what}: ${found}${todo}${time}`;
}
