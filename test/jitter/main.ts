import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beginLoad } from "../support/cpu-load.ts";
import { exitCodeOf, Mistake } from "../support/mistake.ts";
import { type Plan, planOf, type Round, USAGE } from "./arguments.ts";
import { lastLines, type Ran, type Red, type Report, redsOf, repeatOf, tableOf, titleOf } from "./results.ts";

const root = new URL("../..", import.meta.url).pathname;
const SERVICE = ["--project", "service", "--project", "deep-service-modules"];
/** All but the tests of `unit`, where nothing has a time to disturb. */
const SERVICE_FILES = ["test/service/", "test/deep/service/"];
/** Only for files that are named. */
const DEEP = ["--project", "deep-service"];
const BROWSER = ["--project", "deep-browser"];
/** What the progress reporter prints of a file or a test that failed. */
const FAILED = /^(?: *\d+\/\d+ .* failed| {4}failed: .*)$/;

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:jitter`. 0 if no test was red, 1 if one was. */
async function main(argv: string[]): Promise<number> {
  const plan = planOf(argv);
  if (!plan) {
    process.stdout.write(USAGE);
    return 0;
  }
  const folder = await mkdtemp(join(tmpdir(), "parley-jitter-"));
  try {
    return await runAll(plan, join(folder, "report.json"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runAll(plan: Plan, reportPath: string): Promise<number> {
  const reds: Red[] = [];
  let files = 0;
  for (const [index, round] of plan.rounds.entries()) {
    const began = performance.now();
    const ran = await runRound(plan, round, reportPath);
    const found = redsOf(ran, round, root);
    const { length } = ran.report.testResults;
    reds.push(...found);
    files += length;
    const seconds = Math.round((performance.now() - began) / 1_000);
    const counts = `${length} files in ${seconds} s, ${found.length} red`;
    print(`round ${index + 1} of ${plan.rounds.length}, seed ${round.seed}, ${round.way}: ${counts}`);
    for (const red of found) print(`  ${red.file}\n    ${titleOf(red)}\n    ${red.error}`);
  }
  if (reds.length > 0) print(`\n${tableOf(reds)}\n`);
  await repeatFirst(plan, reds, reportPath);
  print(`${files} runs of test files, ${reds.length} red`);
  return reds.length > 0 ? 1 : 0;
}

/** Says whether the first red test is red again with the same seed, alone. */
async function repeatFirst(plan: Plan, [red]: Red[], reportPath: string): Promise<void> {
  if (!red || plan.rounds.length === 1) return;
  print(`Again: ${repeatOf(red, red.file)}`);
  const files = red.file ? [red.file] : plan.files;
  const again = redsOf(await runRound({ ...plan, files }, red, reportPath), red, root);
  print(again.some(({ test }) => test === red.test) ? "It is red again." : "It is green when it runs alone.");
}

async function runRound(plan: Plan, { seed, way }: Round, reportPath: string): Promise<Ran> {
  await rm(reportPath, { force: true });
  const endLoad = beginLoad(way === "loaded" ? (plan.load ?? 2 * availableParallelism()) : 0);
  const reporters = [
    "--reporter",
    "./test/support/progress-reporter.ts",
    "--reporter",
    "json",
    "--outputFile",
    reportPath,
  ];
  const service = plan.files.length > 0 ? [...SERVICE, ...DEEP] : [...SERVICE, ...SERVICE_FILES];
  const chosen = [...(plan.browser ? BROWSER : service), ...plan.files, "--maxWorkers", String(plan.workers)];
  const child = spawn("vitest", ["run", "--config", "test/vitest.config.ts", ...chosen, ...reporters], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ORDER_SEED: String(seed), JITTER: `${way === "loaded" ? "slow" : way}:${seed}` },
  });
  const printed = outputOf(child);
  const end = () => child.kill();
  process.once("SIGTERM", end);
  const [code] = (await once(child, "close")) as [number | null];
  process.off("SIGTERM", end);
  await endLoad();
  const output = await printed;
  const text = await readFile(reportPath, "utf8").catch(() => null);
  if (text === null) throw new Error(`Vitest made no report:\n${lastLines(output)}`);
  const report = JSON.parse(text) as Report;
  if (report.testResults.length === 0) throw new Mistake(`No test file fits ${chosen.join(" ")}`);
  return { report, code, output };
}

async function outputOf({ stdout, stderr }: ChildProcess): Promise<string> {
  let text = "";
  for (const stream of [stdout, stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on("line", (line) => {
      text += `${line}\n`;
      // A round takes minutes, and may be ended before its report is there.
      if (FAILED.test(line)) print(line);
    });
  }
  await Promise.all([stdout && once(stdout, "close"), stderr && once(stderr, "close")]);
  return text;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
