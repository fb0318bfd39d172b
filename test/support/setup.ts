import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import * as worker from "../../src/index.ts";
import { watchForSecrets } from "./canaries.ts";

declare global {
  /** The number of the test file in this runtime. */
  var testFile: number | undefined;
  /** The name under which Vitest's plugin for the Workers runtime loads the tested Worker. */
  var __vitest_mocker__: { moduleRunner: ModuleRunner } | undefined;
}

interface ModuleRunner {
  import(path: string): Promise<unknown>;
  keepsWorker?: true;
}

/** How long `vi.waitFor` and `vi.waitUntil` wait unless a test says otherwise, in milliseconds. Their own second is short. */
const PATIENCE_MS = 20_000;
/** One of so many loads is real, because a runtime that never waits for another process fires no timers. */
const REAL_LOAD_EVERY = 64;

// Test files share a runtime. Each begins with empty storage, without objects, alarms or timers of the file before: what
// a request left to be done later would call objects while this file counts calls.
vi.useRealTimers();
vi.unstubAllGlobals();
if (globalThis.testFile === undefined) {
  endTimersWithTheirFile();
  waitPatiently();
}
globalThis.testFile = (globalThis.testFile ?? 0) + 1;
await reset();
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
watchForSecrets();

// Before each request and each call to an object, the plugin asks Vite in another process for the Worker. The response
// never changes, and the wait takes most of a test's time. Without this name the tests pass, but take longer.
const runner = globalThis.__vitest_mocker__?.moduleRunner;
if (runner && !runner.keepsWorker) {
  runner.keepsWorker = true;
  const path = new URL("../../src/index.ts", import.meta.url).pathname;
  const load = runner.import.bind(runner);
  let loads = 0;
  runner.import = async (wanted) => {
    if (wanted !== path) return load(wanted);
    if (++loads % REAL_LOAD_EVERY === 0) await load(wanted);
    // After `vi.resetModules` a real load returns another copy, which breaks the objects of this one.
    return worker;
  };
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

function waitPatiently(): void {
  const { waitFor, waitUntil } = vi;
  const patient = <T extends object>(options: number | T | undefined) =>
    typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options };
  vi.waitFor = (check, options) => waitFor(check, patient(options));
  vi.waitUntil = (check, options) => waitUntil(check, patient(options));
}
