import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { Mistake, wholeNumber } from "../support/mistake.ts";

export interface ClonesArguments {
  runs: number;
  /** How many of the last runs share the machine with busy processes. */
  loaded: number;
  /** How many busy processes. */
  load: number;
  /** How many of the first runs have a clock that steps. */
  stepping: number;
  seed: number;
  help: boolean;
}

/** Unless `--runs` is lower. */
const LOADED = 5;

export const USAGE = `npm run test:clones -- [options]

  --runs <n>      how many clones (20)
  --loaded <n>    how many of them, the last ones, run beside a load of the CPU (5)
  --load <n>      how many busy processes the load is (4)
  --stepping <n>  how many of them, the first ones, have a clock that steps by a
                  second, forward and back (0). It is the machine's clock: root only
  --seed <n>      the orders of an earlier series (new ones)
`;

/** @throws Mistake for an unknown option, a value that is no whole number, or more loaded runs than runs */
export function readArguments(argv: string[]): ClonesArguments {
  const { values } = parseArgs({
    args: argv,
    options: {
      runs: { type: "string", default: "20" },
      loaded: { type: "string" },
      load: { type: "string", default: "4" },
      stepping: { type: "string", default: "0" },
      seed: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const runs = wholeNumber("runs", values.runs);
  const loaded = values.loaded === undefined ? Math.min(LOADED, runs) : numberOrNone("loaded", values.loaded);
  const stepping = numberOrNone("stepping", values.stepping);
  for (const [option, some] of Object.entries({ loaded, stepping })) {
    if (some > runs) throw new Mistake(`--${option} is ${some}, and there are only ${runs} runs`);
  }
  return {
    runs,
    loaded,
    load: wholeNumber("load", values.load),
    stepping,
    seed: values.seed === undefined ? randomInt(1, 2 ** 31) : wholeNumber("seed", values.seed),
    help: values.help,
  };
}

function numberOrNone(option: string, text: string): number {
  return text === "0" ? 0 : wholeNumber(option, text);
}
