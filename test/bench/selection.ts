import type { BenchArguments } from "./arguments.ts";
import type { Case } from "./cases.ts";
import { FLOORS, HELLO } from "./floor-cases.ts";
import { LITERAL } from "./literal-cases.ts";
import { LISTS, REFUSALS, SENDS } from "./message-cases.ts";

const ALL: Case[] = [...FLOORS, ...LITERAL, ...LISTS, ...SENDS, ...REFUSALS];

/** The cases that were asked for, with those that they are compared to. */
export function selectCases({ only, scale }: Pick<BenchArguments, "only" | "scale">): Case[] {
  const chosen = ALL.filter((each) => (only === null || each.name.includes(only)) && (scale || !each.scale));
  const compared = new Set([HELLO, ...chosen.flatMap(({ floor, literal }) => [floor, literal])]);
  return ALL.filter((each) => chosen.includes(each) || compared.has(each.name));
}
