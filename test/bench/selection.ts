import { Mistake } from "../support/mistake.ts";
import type { BenchArguments } from "./arguments.ts";
import type { Case } from "./cases.ts";
import { coldCases } from "./cold-cases.ts";
import { directoryCases } from "./directory-cases.ts";
import { eventCases } from "./event-cases.ts";
import { BARE, bareOf, floorCases, PARTS } from "./floor-cases.ts";
import { literalCases } from "./literal-cases.ts";
import { listCases, REFUSALS, sendCases } from "./message-cases.ts";
import { metricsCases } from "./metrics-cases.ts";
import { OBJECTS } from "./object-cases.ts";
import type { Sizes } from "./sizes.ts";
import { WEBHOOKS } from "./webhook-cases.ts";

/** The chosen cases, with the cases that they are compared to. */
export function selectCases(
  sizes: Sizes,
  { only, goals, scale }: Pick<BenchArguments, "only" | "goals" | "scale">,
): Case[] {
  const all = allCases(sizes);
  const chosen = all.filter(
    (each) => (only === null || each.name.includes(only)) && (scale || !each.scale) && (!goals || each.goal),
  );
  return withCompared(all, chosen, { goals });
}

/** Some of all cases, with those that they are compared to, in the order of all. @param goals whether only goals count */
export function withCompared(all: readonly Case[], chosen: readonly Case[], { goals }: { goals: boolean }): Case[] {
  const compared = new Set<string | null | undefined>([BARE, ...chosen.flatMap((each) => comparedTo(each, goals))]);
  return all.filter((each) => chosen.includes(each) || compared.has(each.name));
}

/**
 * The one case with this name, or whose name contains the text.
 * @throws Mistake if there is none, or more than one
 */
export function findCase(sizes: Sizes, text: string): Case {
  const all = allCases(sizes);
  const exact = all.filter(({ name }) => name === text);
  const found = exact.length > 0 ? exact : all.filter(({ name }) => name.includes(text));
  if (found.length === 1) return found[0] as Case;
  const names = (found.length > 0 ? found : all).map(({ name }) => `  ${name}`).join("\n");
  throw new Mistake(`"${text}" names ${found.length} cases. Give the name of one:\n${names}`);
}

function allCases(sizes: Sizes): Case[] {
  return [
    ...floorCases(sizes),
    ...literalCases(sizes),
    ...listCases(sizes),
    ...sendCases(sizes),
    ...coldCases(sizes),
    ...REFUSALS,
    ...directoryCases(sizes),
    ...OBJECTS,
    ...WEBHOOKS,
    ...eventCases,
    ...metricsCases(sizes),
  ];
}

function comparedTo({ connections, floor, literal, goal }: Case, goals: boolean): (string | null | undefined)[] {
  return goals ? [...PARTS, floor, goal?.to] : [bareOf(connections), floor, literal, goal?.to];
}
