import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import type { Settings } from "./hold.ts";

const USAGE = `npm run test:models -- [options]

  --runs <n>       how many runs of each (5000 of a model, 2000 of the schedules)
  --seed <n>       the seed of them all (a new one)
  --only <name>    one of the files here, without its ending
  --path <path>    with --only and --seed: the one run that failed
  --replay <path>  with --path: which of its steps were taken
`;

process.exitCode = main(process.argv.slice(2));

/** `npm run test:models`: the tests of this folder as `npm test` has them, with many more runs. 0 when all held. */
function main(argv: string[]): number {
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
  const file = `test/models/${only === undefined ? "" : `${only}.test.ts`}`;
  const { status, stderr } = spawnSync("vitest", ["run", "--config", "test/vitest.config.ts", "--silent=false", file], {
    stdio: ["inherit", "inherit", "pipe"],
    encoding: "utf8",
    maxBuffer: 2 ** 30,
    env: { ...process.env, MODELS: JSON.stringify(settings) },
  });
  // The runtime tells of each object that a test crashed.
  process.stderr.write(stderr.replaceAll(/^(?:uncaught exception; .*crash|stack: .*)\n/gm, ""));
  return status ?? 1;
}

/** @throws TypeError for what is no whole number */
function whole(text: string): number {
  if (/^-?\d{1,10}$/.test(text)) return Number(text);
  throw new TypeError(`"${text}" is no whole number`);
}
