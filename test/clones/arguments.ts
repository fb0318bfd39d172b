import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { Mistake, wholeNumber } from "../support/mistake.ts";

export interface ClonesArguments {
  runs: number;
  /** How many of the last runs share the machine with busy processes. */
  loaded: number;
  /** How many busy processes. */
  load: number;
  seed: number;
  help: boolean;
}

/** Unless `--runs` is lower. */
const LOADED = 5;

export const USAGE = `npm run test:clones -- [options]

  --runs <n>    how many clones (20)
  --loaded <n>  how many of them, the last ones, run beside a load of the CPU (5)
  --load <n>    how many busy processes the load is (4)
  --seed <n>    the orders of an earlier series (new ones)
`;

/** @throws Mistake for an unknown option, a value that is no whole number, or more loaded runs than runs */
export function readArguments(argv: string[]): ClonesArguments {
  const { values } = parseArgs({
    args: argv,
    options: {
      runs: { type: "string", default: "20" },
      loaded: { type: "string" },
      load: { type: "string", default: "4" },
      seed: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const runs = wholeNumber("runs", values.runs);
  const loaded = values.loaded === undefined ? Math.min(LOADED, runs) : numberOrNone("loaded", values.loaded);
  if (loaded > runs) throw new Mistake(`--loaded is ${loaded}, and there are only ${runs} runs`);
  return {
    runs,
    loaded,
    load: wholeNumber("load", values.load),
    seed: values.seed === undefined ? randomInt(1, 2 ** 31) : wholeNumber("seed", values.seed),
    help: values.help,
  };
}

function numberOrNone(option: string, text: string): number {
  return text === "0" ? 0 : wholeNumber(option, text);
}
