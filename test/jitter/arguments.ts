import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { Mistake, wholeNumber } from "../support/mistake.ts";

/** How one round disturbs time: the delays' mode, and whether other processes want the cores too. */
type Way = "slow" | "fast" | "held" | "loaded";

/** In each four rounds, each way once. */
const WAYS: readonly Way[] = ["slow", "fast", "held", "loaded"];
/** Only calls of objects are held, and pages make none. */
const BROWSER_WAYS: readonly Way[] = ["slow", "fast", "loaded"];

export const USAGE = `npm run test:jitter -- [options] [files]

Runs test files again and again while calls, responses, alarms, timers and frames come late at random.

  --times <n>    how many rounds (4)
  --seed <n>     the seed of the first round; each later one has the next number (a new one)
  --way <way>    slow, fast, held (not with --browser) or loaded: only this one (one after the other)
  --load <n>     how many processes take the cores in a loaded round (twice the cores)
  --workers <n>  how many files run at once (8: they mostly wait)
  --browser      the browser's tests instead of the service's
`;

export interface Plan {
  files: string[];
  rounds: Round[];
  load: number | null;
  workers: number;
  browser: boolean;
}

export interface Round {
  seed: number;
  way: Way;
}

/** What a command asks for. Null if it asks for help. @throws Mistake */
export function planOf(argv: string[]): Plan | null {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      times: { type: "string", default: "4" },
      seed: { type: "string" },
      way: { type: "string" },
      load: { type: "string" },
      workers: { type: "string", default: "8" },
      browser: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  const first = values.seed === undefined ? randomInt(1, 1_000_000_000) : wholeNumber("seed", values.seed);
  const ways = values.browser ? BROWSER_WAYS : WAYS;
  const only = values.way === undefined ? null : wayOf(values.way, ways);
  const rounds = Array.from({ length: wholeNumber("times", values.times) }, (_, index) => ({
    seed: first + index,
    way: only ?? (ways[index % ways.length] as Way),
  }));
  return {
    files: positionals,
    rounds,
    load: values.load === undefined ? null : wholeNumber("load", values.load),
    workers: wholeNumber("workers", values.workers),
    browser: values.browser,
  };
}

function wayOf(text: string, ways: readonly Way[]): Way {
  const way = ways.find((each) => each === text);
  if (!way) throw new Mistake(`--way must be one of ${ways.join(", ")}`);
  return way;
}
