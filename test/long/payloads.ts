import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { exitCodeOf, wholeNumber } from "../support/mistake.ts";

const USAGE = `npm run test:long -- payloads [options]

  --payloads <n>  how many (100000)
  --seed <n>      the seed of the first 80 (a new one); each further 160 have the next
`;

/** Each run has storage of its own, which is in memory: it begins anew before that is full. */
const IN_A_RUN = 10_000;
/** The payloads of a seed: 40 of each of four kinds. */
const OF_A_SEED = 160;
const MAX_SEED = 1_000_000_000;

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:long -- payloads`: the test of changed payloads as `npm run test:deep` has it, with many more. */
function main(argv: string[]): number {
  const { values } = parseArgs({
    args: argv,
    options: {
      payloads: { type: "string", default: "100000" },
      seed: { type: "string", default: String(1 + Math.floor(Math.random() * MAX_SEED)) },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const payloads = wholeNumber("payloads", values.payloads);
  const first = wholeNumber("seed", values.seed);
  for (let done = 0; done < payloads; done += IN_A_RUN) {
    const seed = first + done / OF_A_SEED;
    const count = Math.min(IN_A_RUN, payloads - done);
    const env = { ...process.env, MUTATIONS: String(count), SEED: String(seed) };
    const file = "test/deep/service/inbound/mutations.test.ts";
    const { status, error } = spawnSync("vitest", ["run", "--config", "test/vitest.config.ts", file], {
      stdio: "inherit",
      env,
    });
    if (error) throw error;
    if (status !== 0) return status ?? 130;
    process.stdout.write(`${done + count} of ${payloads} payloads held, with the seeds from ${first}\n`);
  }
  return 0;
}
