import { rmSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { newSecrets } from "../support/world/workers.ts";
import { buildScripts, gzippedSize } from "./build.ts";
import type { Case } from "./cases.ts";
import { countCase } from "./counts.ts";
import { type Memory, measureMemory } from "./memory.ts";
import { Place } from "./place.ts";
import { type Counted, type Row, rowsOf } from "./report.ts";
import { type Prepared, runRounds } from "./rounds.ts";
import { type Server, withServer } from "./server.ts";
import { startUpTime } from "./start-up.ts";

export interface Outcome {
  rows: Row[];
  /** Bytes of the Worker, minified and gzipped. */
  gzippedBytes: number;
  /** Milliseconds that its script is at work before its first request; null where it was not asked. */
  startUp: number | null;
  /** Of the chats whose lengths were asked for. */
  memory: Memory[];
}

export interface BenchSettings {
  rounds: number;
  seconds: number;
  /** The folder to hold the data. */
  data: string;
  startUp: boolean;
  /** The lengths of the chats whose objects' memory is measured, in messages. */
  memory: number[];
  /** Hears what is being done. */
  log: (line: string) => void;
}

/**
 * Measures some cases. Their data is made, and what they cost counted, by a build of the service with counters in it;
 * then the service as it is deployed is started on the same data and timed.
 */
export async function bench(
  cases: Case[],
  { rounds, seconds, data, startUp, memory, log }: BenchSettings,
): Promise<Outcome> {
  const folder = await mkdtemp(join(data, "parley-bench-"));
  // A run that is stopped leaves no data behind either.
  const clear = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  process.once("exit", clear);
  try {
    log("Building");
    const scripts = await buildScripts(folder);
    const ms = startUp ? await startUpTime(join(folder, "startup.cpuprofile")) : null;
    await mkdir(join(folder, "data"));
    const setup = { folder, scripts, secrets: newSecrets() };
    const prepared = await withServer(setup, { counted: true, heard: true }, (server) =>
      prepare(new Place(server, setup.secrets.ADMIN_TOKEN), cases, log),
    );
    // What was filled behind an object's back is seen by an object that starts anew.
    const counted = await withServer(setup, { counted: true, heard: false }, (server) => count(server, prepared, log));
    const results = await withServer(setup, { counted: false, heard: false }, (server) => {
      const onRound = (round: number) => log(`Round ${round + 1} of ${rounds}`);
      return runRounds(server, prepared, { rounds, seconds }, onRound);
    });
    return {
      rows: rowsOf(counted, results),
      gzippedBytes: await gzippedSize(scripts.parley),
      startUp: ms,
      memory: await measureMemory(setup, memory, log),
    };
  } finally {
    process.off("exit", clear);
    clear();
  }
}

async function prepare(place: Place, cases: Case[], log: BenchSettings["log"]): Promise<Prepared[]> {
  await place.migrate();
  const prepared: Prepared[] = [];
  for (const each of cases) {
    log(`Making: ${each.name}`);
    prepared.push({ each, traffic: await each.make(place) });
  }
  return prepared;
}

async function count(server: Server, prepared: Prepared[], log: BenchSettings["log"]): Promise<Counted[]> {
  log("Counting calls and rows");
  const counted: Counted[] = [];
  for (const { each, traffic } of prepared) {
    counted.push({ each, counts: await countCase(server, each, traffic), note: traffic.note ?? null });
  }
  return counted;
}
