import { cpus, tmpdir } from "node:os";
import { exitCodeOf } from "../support/mistake.ts";
import { againstText, measureAgainst } from "./against.ts";
import { type BenchArguments, readArguments, USAGE } from "./arguments.ts";
import { bench, type Outcome } from "./bench.ts";
import { isFaultless, lighthouseText, measureLighthouse } from "./lighthouse.ts";
import { profile } from "./profile.ts";
import { slowBareRoute, withoutRatios } from "./report.ts";
import { WARM_UP_SECONDS } from "./rounds.ts";
import { findCase, selectCases } from "./selection.ts";
import { FULL } from "./sizes.ts";
import { FULL_STEPS, SMALL_STEPS } from "./step-cases.ts";
import { measureSteps, stepsText } from "./steps.ts";
import { DRIVER_LIMIT, goalTable, profileTable, samplesOf, table } from "./table.ts";
import { measureWork, workText } from "./work.ts";
import { chosenWork } from "./work-cases.ts";
import { findWrk } from "./wrk.ts";

/** An alarm rings within two seconds of a send, an idle key within five. */
const AFTER_SECONDS = 10;

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run bench`. Returns 0 if each case got the responses that it expects. */
async function main(argv: string[]): Promise<number> {
  const given = readArguments(argv);
  if (given.help) {
    print(USAGE);
    return 0;
  }
  const wrk = await findWrk();
  if (given.work !== null) {
    const all = await measureWork(chosenWork(given.work), { ...given, wrk, log });
    for (const measured of all) print(`\n${workText(measured)}`);
    return all.some(({ faults }) => faults.length > 0) ? 1 : 0;
  }
  if (given.lighthouse) {
    const pages = await measureLighthouse(given.rounds, log);
    print(lighthouseText(pages));
    return isFaultless(pages) ? 0 : 1;
  }
  if (given.steps) {
    const { only, small } = given;
    const isMeasured = (name: string) => only === null || name.includes(only);
    const measured = await measureSteps(small ? SMALL_STEPS : FULL_STEPS, isMeasured, { ...given, wrk, log });
    print(stepsText(measured));
    return measured.rows.some(({ longest, allowed, failed }) => failed !== null || longest > allowed) ? 1 : 0;
  }
  if (given.against !== null) {
    const compared = await measureAgainst(given.against, selectCases(FULL, { ...given, goals: false }), {
      ...given,
      wrk,
      log,
    });
    print(`\n${againstText(given.against, compared)}\n`);
    return compared.some(({ unexpected }) => unexpected !== null) ? 1 : 0;
  }
  if (given.profile !== null) return showProfiles(given.profile, given, wrk);
  const startUp = given.only === null && !given.goals;
  const settings = {
    ...given,
    wrk,
    startUp,
    warmUpSeconds: WARM_UP_SECONDS,
    afterSeconds: AFTER_SECONDS,
    log,
  };
  const measured = await bench(selectCases(FULL, given), settings);
  const driver = wrk === null ? "Node" : "wrk";
  const slowBare = slowBareRoute(measured.rows, driver);
  const outcome = slowBare && !wrk ? { ...measured, rows: withoutRatios(measured.rows) } : measured;
  if (given.json) print(`${JSON.stringify({ machine: machine(), driver, ...outcome }, null, 2)}\n`);
  else show(outcome, given, driver);
  if (slowBare !== null) log(`\n${slowBare}`);
  const wrong = outcome.rows.filter(({ unexpected }) => unexpected !== null);
  for (const { name, unexpected } of wrong) log(`\n${name} got a wrong response:\n${unexpected}`);
  const slow = outcome.rows.filter(({ driverShare }) => driverShare > DRIVER_LIMIT).map(({ name }) => name);
  if (slow.length > 0) log(`\nThe driver used most of a core, so the service may be faster: ${slow.join("; ")}`);
  return wrong.length > 0 ? 1 : 0;
}

function show({ rows, gzippedBytes, startUp }: Outcome, { data }: BenchArguments, driver: string): void {
  print(`\n${table(rows)}\n\n`);
  const goals = goalTable(rows);
  if (goals) print(`${goals}\n\n`);
  const { cores, cpu, node } = machine();
  print(`${cores} cores of ${cpu}, Node ${node}. Requests sent by ${driver}. Data in ${data}.\n`);
  print(
    `Worker: ${(gzippedBytes / 1_024).toFixed(1)} KiB gzipped${startUp === null ? "" : `, start-up ${startUp} ms`}\n`,
  );
}

async function showProfiles(name: string, given: BenchArguments, wrk: string | null): Promise<number> {
  const seconds = given.rounds * given.seconds;
  const profiles = await profile(findCase(FULL, name), { ...given, seconds, wrk, folder: tmpdir(), log });
  const total = profiles.reduce((sum, { functions }) => sum + samplesOf(functions), 0);
  for (const { worker, path, functions } of profiles) {
    const share = Math.round((100 * samplesOf(functions)) / total);
    print(`\n${worker}: ${share} % of the samples\n\n${profileTable(functions)}\n\n${path}\n`);
  }
  return 0;
}

function machine() {
  return { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version };
}

function print(text: string): void {
  process.stdout.write(text);
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}
