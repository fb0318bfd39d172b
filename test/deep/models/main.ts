import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import { exitCodeOf, Mistake } from "../../support/mistake.ts";
import type { Settings } from "./hold.ts";

const USAGE = `npm run test:long -- models [options]

  --runs <n>       how many runs of each (5000)
  --seed <n>       the seed of them all (a new one)
  --only <name>    one of the files here, without its ending
  --path <path>    with --only and --seed: the one run that failed
  --replay <path>  with --path: which of its steps were taken
`;

/** What the runtime says of each object that a test crashed; its stack follows, in a line or in several. */
const CRASH = /^uncaught exception; (?:exception|source) = .*Error: crash$/;
const STACK = /^(?:stack: | +at )/;

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:long -- models`: the tests of this folder, with many more runs than in `npm run test:deep`. 0 when all held. */
async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      runs: { type: "string" },
      seed: { type: "string" },
      only: { type: "string" },
      path: { type: "string" },
      replay: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const { help, runs, seed, only, path, replay } = values;
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const settings: Settings = {
    ...(runs !== undefined && { runs: whole(runs) }),
    ...(seed !== undefined && { seed: whole(seed) }),
    ...(path !== undefined && { path }),
    ...(replay !== undefined && { replay }),
  };
  const file = `test/deep/models/${only === undefined ? "" : `${only}.test.ts`}`;
  const run = spawn("vitest", ["run", "--config", "test/vitest.config.ts", "--silent=false", file], {
    stdio: ["inherit", "pipe", "pipe"],
    env: { ...process.env, MODELS: JSON.stringify(settings), ...(process.stdout.isTTY && { FORCE_COLOR: "1" }) },
  });
  const ended = once(run, "close") as Promise<[number | null]>;
  await Promise.all([passOn(run.stdout, process.stdout), passOn(run.stderr, process.stderr)]);
  return (await ended)[0] ?? 1;
}

/** Passes lines on as they come, but for what the runtime says of crashes. */
async function passOn(input: Readable, output: Writable): Promise<void> {
  let isOfCrash = false;
  for await (const line of createInterface({ input })) {
    isOfCrash = CRASH.test(line) || (isOfCrash && STACK.test(line));
    if (!isOfCrash) output.write(`${line}\n`);
  }
}

/** @throws Mistake for what is no whole number */
function whole(text: string): number {
  if (/^-?\d{1,10}$/.test(text)) return Number(text);
  throw new Mistake(`"${text}" is no whole number`);
}
