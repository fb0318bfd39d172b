import { rmSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { newSecrets } from "../support/world/workers.ts";
import { measureAftermath } from "./aftermath.ts";
import { buildScripts, gzippedSize } from "./build.ts";
import type { Case } from "./cases.ts";
import { countCase } from "./counts.ts";
import { type Driver, nodeDriver } from "./driver.ts";
import { Place } from "./fixtures.ts";
import { type Counted, type Row, rowsOf } from "./report.ts";
import { type Prepared, runRounds } from "./rounds.ts";
import { type Server, type Setup, withServer } from "./server.ts";
import { startUpTime } from "./start-up.ts";
import { wrkDriver } from "./wrk.ts";

export interface Outcome {
  rows: Row[];
  /** Bytes of the Worker, minified and gzipped. */
  gzippedBytes: number;
  /** Milliseconds that the Worker's script runs before its first request. Null if it was not measured. */
  startUp: number | null;
}

/** What all ways to run cases need. */
export interface RunSettings {
  seconds: number;
  /** The folder for the data. */
  data: string;
  /** The path of wrk, or null to send the requests from Node. */
  wrk: string | null;
  log: (line: string) => void;
}

export interface BenchSettings extends RunSettings {
  rounds: number;
  /** Of a warm case, before each turn. */
  warmUpSeconds: number;
  /** For how long the server is watched after the requests of a case with `followed`. */
  afterSeconds: number;
  startUp: boolean;
}

/**
 * Measures some cases. A build of the service with counters makes their data and counts what they cost. Then the
 * service as it is deployed starts on the same data, and is timed.
 */
export async function bench(cases: Case[], settings: BenchSettings): Promise<Outcome> {
  const { rounds, seconds, warmUpSeconds, afterSeconds, log } = settings;
  return withSetup(settings, { minify: true }, async (setup, drive) => {
    const startUp = settings.startUp ? await startUpTime(join(setup.folder, "startup.cpuprofile")) : null;
    const prepared = await prepare(setup, cases, log);
    // Objects that start anew see what was written into their storage from outside.
    const counted = await withServer(setup, { counted: true, showErrors: false }, (server) =>
      count(server, prepared, { seconds: rounds * seconds, warmUpSeconds, log }),
    );
    const timed = await withServer(setup, { counted: false, showErrors: false }, async (server) => {
      const onRound = (round: number) => log(`Round ${round + 1} of ${rounds}`);
      const results = await runRounds(server, prepared, { drive, rounds, seconds, warmUpSeconds }, onRound);
      log("Measuring what follows");
      return { results, after: await measureAftermath(server, prepared, { drive, seconds, afterSeconds }) };
    });
    return {
      rows: rowsOf(counted, timed.results, timed.after),
      gzippedBytes: await gzippedSize(setup.scripts.parley),
      startUp,
    };
  });
}

/** Builds the Workers into a folder that is removed in the end, and does some work with them and a driver. */
export async function withSetup<T>(
  { data, wrk, log }: RunSettings,
  { minify, root }: { minify: boolean; root?: string },
  work: (setup: Setup, drive: Driver) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(data, "parley-bench-"));
  // A run that is stopped leaves no data behind either.
  const clear = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  process.once("exit", clear);
  try {
    log("Building");
    const scripts = await buildScripts(folder, { minify, root });
    await mkdir(join(folder, "data"));
    const drive = wrk === null ? nodeDriver : wrkDriver(wrk, folder);
    return await work({ folder, scripts, secrets: newSecrets() }, drive);
  } finally {
    process.off("exit", clear);
    clear();
  }
}

/** Makes the data of the cases. */
export function prepare(setup: Setup, cases: Case[], log: RunSettings["log"]): Promise<Prepared[]> {
  return withServer(setup, { counted: true, showErrors: true }, async (server) => {
    const place = new Place(server, setup.secrets.ADMIN_TOKEN);
    await place.migrate();
    const prepared: Prepared[] = [];
    for (const each of cases) {
      log(`Making: ${each.name}`);
      prepared.push({ each, traffic: await each.make(place) });
    }
    return prepared;
  });
}

async function count(
  server: Server,
  prepared: Prepared[],
  { log, ...times }: Pick<BenchSettings, "seconds" | "warmUpSeconds" | "log">,
): Promise<Counted[]> {
  log("Counting calls and rows");
  const counted: Counted[] = [];
  for (const one of prepared) counted.push({ each: one.each, counts: await countCase(server, one, times) });
  return counted;
}
