import { parseArgs } from "node:util";
import { exitCodeOf, Mistake } from "../support/mistake.ts";
import { CHECKS, NAMED_ONLY } from "./checks.ts";
import { runChecks } from "./run.ts";

const ALL = [...CHECKS, ...NAMED_ONLY];

const USAGE = `npm run check -- [names]

Without names, all but the last ${NAMED_ONLY.length} run, up to the first that fails.

${ALL.map(({ name, about }) => `  ${name.padEnd(8)}  ${about}\n`).join("")}`;

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run check`. */
function main(argv: string[]): number {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { help: { type: "boolean", default: false } },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const unknown = positionals.find((name) => ALL.every((check) => check.name !== name));
  if (unknown !== undefined) {
    throw new Mistake(`There is no check "${unknown}". There are ${ALL.map(({ name }) => name).join(", ")}.`);
  }
  const chosen = positionals.length === 0 ? CHECKS : ALL.filter(({ name }) => positionals.includes(name));
  return runChecks(chosen, (line) => void process.stderr.write(`${line}\n`));
}
