import { exitCodeOf, Mistake } from "../support/mistake.ts";
import { LONG_TESTS } from "./tests.ts";

const code = await exitCodeOf(() => main(process.argv[2]));
// Otherwise the test has set its own.
if (code > 0) process.exitCode = code;

/** `npm run test:long`: runs the long test of that name with the options after it, or lists all. */
async function main(name: string | undefined): Promise<number> {
  if (name === undefined || name === "--help") {
    process.stdout.write(
      `npm run test:long -- <name> [options]\n\n${list()}\n--help after a name lists its options.\n`,
    );
    return 0;
  }
  const test = Object.hasOwn(LONG_TESTS, name) ? LONG_TESTS[name] : undefined;
  if (!test) throw new Mistake(`There is no long test of this name. There are ${Object.keys(LONG_TESTS).join(", ")}.`);
  // The test reads its options as if it were the program.
  process.argv.splice(2, 1);
  await test.run();
  return 0;
}

function list(): string {
  const width = Math.max(...Object.keys(LONG_TESTS).map((name) => name.length));
  return Object.entries(LONG_TESTS)
    .map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}\n`)
    .join("");
}
