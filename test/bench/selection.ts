import type { BenchArguments } from "./arguments.ts";
import type { Case } from "./cases.ts";
import { directoryCases } from "./directory-cases.ts";
import { FLOORS, HELLO, helloOf } from "./floor-cases.ts";
import { literalCases } from "./literal-cases.ts";
import { listCases, REFUSALS, sendCases } from "./message-cases.ts";
import type { Sizes } from "./sizes.ts";
import { socketCases } from "./socket-cases.ts";
import { WEBHOOKS } from "./webhook-cases.ts";

/** The cases that were asked for, with those that they are compared to. */
export function selectCases(sizes: Sizes, { only, scale }: Pick<BenchArguments, "only" | "scale">): Case[] {
  const all = [
    ...FLOORS,
    ...literalCases(sizes),
    ...listCases(sizes),
    ...sendCases(sizes),
    ...REFUSALS,
    ...directoryCases(sizes),
    ...WEBHOOKS,
    ...socketCases(sizes),
  ];
  const chosen = all.filter((each) => (only === null || each.name.includes(only)) && (scale || !each.scale));
  const compared = new Set(chosen.flatMap(({ floor, literal, connections }) => [helloOf(connections), floor, literal]));
  compared.add(HELLO);
  return all.filter((each) => chosen.includes(each) || compared.has(each.name));
}
