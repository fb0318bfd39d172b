import { exitCodeOf } from "../support/mistake.ts";
import { Random } from "../support/random.ts";
import { readArguments, USAGE } from "./arguments.ts";
import { hasChanges, headCommit, runInClone } from "./clone.ts";
import { line, type Row, reds, table } from "./row.ts";

/** Of the output of a red run. */
const LINES_SHOWN = 60;
const MAX_SEED = 2 ** 31 - 1;

const stop = new AbortController();
// Each time: npm passes on a Ctrl+C that the terminal has sent too. What is left is removed within seconds.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
// npm forwards a SIGTERM to its shell, which may die without forwarding it. Then this process gets another parent.
const parent = process.ppid;
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && stop.abort(), 200).unref();

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:clones`: 0 when `npm test` was green in each of some fresh clones, 130 when it was interrupted. */
async function main(argv: string[]): Promise<number> {
  const { help, ...series } = readArguments(argv);
  const { runs, loaded, load, stepping, seed } = series;
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const log = (text: string) => void process.stderr.write(`${text}\n`);
  const commit = headCommit();
  log(`${runs} clones of ${commit.slice(0, 8)}, the last ${loaded} beside ${load} busy processes, seed ${seed}`);
  if (stepping > 0) log(`The machine's clock steps by a second during the first ${stepping}.`);
  if (hasChanges()) log("What is not committed is in no clone.");
  const random = new Random(seed);
  const rows: Row[] = [];
  for (let run = 1; run <= runs && !stop.signal.aborted; run++) {
    const orderSeed = random.between(1, MAX_SEED);
    const isStepping = run <= stepping;
    const settings = { commit, run, seed: orderSeed, load: run > runs - loaded ? load : 0, isStepping };
    try {
      const { row, output } = await runInClone({ ...settings, signal: stop.signal });
      rows.push(row);
      log(line(row, runs));
      if (reds(row).length > 0) log(indented(output));
    } catch (error) {
      if (stop.signal.aborted) break;
      const isLoaded = settings.load > 0;
      const fault = error instanceof Error ? error.message : String(error);
      const row: Row = {
        run,
        isLoaded,
        isStepping,
        seed: orderSeed,
        installing: null,
        testing: null,
        result: null,
        fault,
      };
      rows.push(row);
      log(line(row, runs));
    }
  }
  process.stdout.write(`\n${table(rows)}\n`);
  const red = rows.filter((row) => reds(row).length > 0).length;
  log(`\n${rows.length - red} of ${runs} green. Again: npm run test:clones -- ${again(series)}`);
  if (stop.signal.aborted) return 130;
  return red > 0 ? 1 : 0;
}

function again(options: object): string {
  return Object.entries(options)
    .map(([name, value]) => `--${name} ${value}`)
    .join(" ");
}

/** The last lines of an output. */
function indented(output: string): string {
  const lines = output.trimEnd().split("\n").slice(-LINES_SHOWN);
  return lines.map((each) => `    ${each}`).join("\n");
}
