import { exitCodeOf, Mistake } from "../../support/mistake.ts";
import { Random } from "../../support/random.ts";
import { keepTemporaryFilesInMemory } from "../../support/temporary-files.ts";
import { readArguments, USAGE } from "./arguments.ts";
import { alone } from "./ground.ts";
import type { Row } from "./storm.ts";
import { table } from "./table.ts";
import { STORMS } from "./tests.ts";

const MAX_FAULTS_SHOWN = 20;

process.once("SIGINT", () => process.exit(130));
// The local runtime waits for the disk in the thread that does all its work. A kill loses nothing of either.
keepTemporaryFilesInMemory();
process.exit(await exitCodeOf(() => main(process.argv.slice(2))));

/** `npm run test:long -- storm`: 0 when everything held. */
async function main(argv: string[]): Promise<number> {
  const { help, only, rounds, minutes, seed } = readArguments(argv);
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const chosen = Object.entries(STORMS).filter(([name]) => only === null || name.includes(only));
  if (chosen.length === 0) throw new Mistake(`--only: there are ${Object.keys(STORMS).join(", ")}`);
  const rows: Row[] = [];
  for (const [name, storm] of chosen) {
    const begun = Date.now();
    log(name);
    const broke = (error: unknown): Row[] => [{ test: name, howMany: "broke off", held: "", faults: [String(error)] }];
    rows.push(...(await alone(storm, { rounds, minutes, random: new Random(seed), log }).catch(broke)));
    log(`  ${Math.round((Date.now() - begun) / 1_000)} s`);
  }
  process.stdout.write(`\n${table(rows, seed)}\n`);
  for (const { test, faults } of rows) {
    for (const fault of faults.slice(0, MAX_FAULTS_SHOWN)) log(`${test}: ${fault}`);
  }
  const broken = rows.some(({ faults }) => faults.length > 0);
  const again = `--rounds ${rounds} --minutes ${minutes} --seed ${seed}${only ? ` --only ${only}` : ""}`;
  if (broken) log(`\nAgain: npm run test:long -- storm ${again}`);
  return broken ? 1 : 0;
}
