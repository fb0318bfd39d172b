import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildScripts, gzippedSize } from "./build.ts";
import type { Case, Traffic } from "./cases.ts";
import { countCase } from "./counts.ts";
import { Place } from "./place.ts";
import { type Counted, type Row, rowsOf } from "./report.ts";
import { runRounds } from "./rounds.ts";
import { type Server, startServer } from "./server.ts";

export interface Outcome {
  rows: Row[];
  /** Bytes of the Worker, minified and gzipped. */
  gzippedBytes: number;
}

export interface BenchSettings {
  rounds: number;
  seconds: number;
  /** Hears what is being done. */
  log: (line: string) => void;
}

/**
 * Measures some cases. Their data is made, and what they cost counted, by a build of the service with counters in it;
 * then the service as it is deployed is started on the same data and timed.
 */
export async function bench(cases: Case[], { rounds, seconds, log }: BenchSettings): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
  try {
    log("Building");
    const scripts = await buildScripts(folder);
    await mkdir(join(folder, "data"));
    const secret = () => randomBytes(32).toString("base64");
    const secrets = { ADMIN_TOKEN: secret(), KEY_SECRET: secret(), CREDENTIALS_KEY: secret() };
    const setup = { folder, scripts, secrets };
    const prepared = await prepare(await startServer(setup, { counted: true }), secrets.ADMIN_TOKEN, cases, log);
    const counted = await count(await startServer(setup, { counted: true }), prepared, log);
    const results = await time(await startServer(setup, { counted: false }), prepared, { rounds, seconds, log });
    return { rows: rowsOf(counted, results), gzippedBytes: await gzippedSize(scripts.parley) };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

type Prepared = { each: Case; traffic: Traffic }[];

/** What was filled behind an object's back is seen by an object that starts anew: hence a server of its own. */
async function prepare(server: Server, adminToken: string, cases: Case[], log: BenchSettings["log"]) {
  const place = new Place(server, adminToken);
  await place.migrate();
  const prepared: Prepared = [];
  for (const each of cases) {
    log(`Making: ${each.name}`);
    prepared.push({ each, traffic: await each.make(place) });
  }
  await server.stop();
  return prepared;
}

async function count(server: Server, prepared: Prepared, log: BenchSettings["log"]): Promise<Counted[]> {
  log("Counting calls and rows");
  const counted: Counted[] = [];
  for (const { each, traffic } of prepared) {
    counted.push({ each, counts: await countCase(server, each, traffic), note: traffic.note ?? null });
  }
  await server.stop();
  return counted;
}

async function time(server: Server, prepared: Prepared, { rounds, seconds, log }: BenchSettings) {
  const onRound = (round: number) => log(`Round ${round + 1} of ${rounds}`);
  const results = await runRounds(server, prepared, { rounds, seconds }, onRound);
  await server.stop();
  return results;
}
