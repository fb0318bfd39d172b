import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { wholeNumber } from "../../support/mistake.ts";

export interface StormArguments {
  rounds: number;
  minutes: number;
  /** Tests whose names hold this text alone. */
  only: string | null;
  seed: number;
  help: boolean;
}

export const USAGE = `npm run test:long -- storm [options]

  --rounds <n>   how many kills, pauses or repetitions of each kind (10)
  --minutes <n>  how long those last that are measured by time (1)
  --only <name>  the tests whose names hold the text
  --seed <n>     the moments and choices of an earlier run; what the machine does in between is its own
`;

/** @throws Mistake for an unknown option or a value that is no whole number */
export function readArguments(argv: string[]): StormArguments {
  const { values } = parseArgs({
    args: argv,
    options: {
      rounds: { type: "string", default: "10" },
      minutes: { type: "string", default: "1" },
      only: { type: "string" },
      seed: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  return {
    rounds: wholeNumber("rounds", values.rounds),
    minutes: wholeNumber("minutes", values.minutes),
    only: values.only ?? null,
    seed: values.seed === undefined ? randomInt(1, 2 ** 31) : wholeNumber("seed", values.seed),
    help: values.help,
  };
}
