import { cpus } from "node:os";
import { exitCodeOf } from "../support/mistake.ts";
import { readArguments, USAGE } from "./arguments.ts";
import { bench } from "./bench.ts";
import { selectCases } from "./selection.ts";
import { FULL, shown } from "./sizes.ts";
import { DRIVER_LIMIT, table } from "./table.ts";

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run bench`: 0 when each case answered as it must. */
async function main(argv: string[]): Promise<number> {
  const given = readArguments(argv);
  if (given.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const memory = given.scale ? [FULL.chat, FULL.hugeChat] : [];
  const outcome = await bench(selectCases(FULL, given), { ...given, startUp: given.only === null, memory, log });
  const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version };
  if (given.json) process.stdout.write(`${JSON.stringify({ machine, ...outcome }, null, 2)}\n`);
  else {
    process.stdout.write(`\n${table(outcome.rows)}\n\n`);
    process.stdout.write(`${machine.cores} cores of ${machine.cpu}, Node ${machine.node}\n`);
    const size = `${(outcome.gzippedBytes / 1_024).toFixed(1)} KiB gzipped`;
    const startUp = outcome.startUp === null ? "" : `, start-up ${outcome.startUp} ms`;
    process.stdout.write(`Worker: ${size}${startUp}; its data in ${given.data}\n`);
    for (const { messages, heap } of outcome.memory) {
      process.stdout.write(
        `A chat's object with ${shown(messages)} messages: ${Math.round(heap / 1_024)} KiB of heap\n`,
      );
    }
  }
  const wrong = outcome.rows.filter(({ unexpected }) => unexpected !== null);
  for (const { name, unexpected } of wrong) log(`\n${name} was answered:\n${unexpected}`);
  const slow = outcome.rows.filter(({ driverShare }) => driverShare > DRIVER_LIMIT).map(({ name }) => name);
  if (slow.length > 0)
    log(`\nThe driver used most of a core, so the service may be faster than shown: ${slow.join("; ")}`);
  return wrong.length > 0 ? 1 : 0;
}
