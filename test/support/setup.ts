import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, vi } from "vitest";
import * as worker from "../../src/index.ts";
import { beginFile, disturb } from "../jitter/runtime.ts";
import { watchDirectory, watchForSecrets } from "./canaries.ts";
import { withoutGrants } from "./grants.ts";
import { followTests } from "./running-test.ts";
import { isUnit } from "./units-first.ts";
import { keepWorkerInPlace } from "./worker-in-place.ts";

declare global {
  /** The number of the test file in this runtime. */
  var testFile: number | undefined;
}

// Test files share a runtime. Each begins with empty storage, without objects, alarms or timers of the file before: what
// a request left to be done later would call objects while this file counts calls.
vi.useRealTimers();
vi.unstubAllGlobals();
if (globalThis.testFile === undefined) {
  endTimersWithTheirFile();
  withoutGrants(worker.KeyObject);
  if (env.TEST_JITTER) disturb(worker);
}
globalThis.testFile = (globalThis.testFile ?? 0) + 1;
keepWorkerInPlace();
putBackAfterEachTest();
followTests();
const path = globalThis.__vitest_worker__.filepath;
// `reset` empties what is in memory, and an idle D1 leaves memory after ten seconds. A module alone needs no database.
if (!isUnit(path)) await env.DB.prepare("select 1").run();
await reset();
watchForSecrets();
if (!isUnit(path)) {
  await migrate();
  watchDirectory();
}
beginFile(path);

/** All migrations in one batch: each call to the database takes time, in each of hundreds of files. */
async function migrate(): Promise<void> {
  const queries = env.TEST_MIGRATIONS.flatMap((migration) => migration.queries);
  await env.DB.batch(queries.map((query) => env.DB.prepare(query)));
}

/** No test meets a fake, a stopped clock or a replaced global of the one before it. */
function putBackAfterEachTest(): void {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    vi.useRealTimers();
    globalThis.grantsUnits = false;
  });
}

/** A timer can't be cleared outside the request that set it, so it rings and does nothing. */
function endTimersWithTheirFile(): void {
  const plain = globalThis.setTimeout;
  const ending = (run: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => {
    const file = globalThis.testFile;
    return plain(() => {
      if (globalThis.testFile === file) run(...given);
    }, ms);
  };
  globalThis.setTimeout = ending as typeof setTimeout;
}
