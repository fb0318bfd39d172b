import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as worker from "../../src/index.ts";
import { watchForSecrets } from "./canaries.ts";

declare global {
  /** The name under which Vitest's plugin for the Workers runtime loads the tested Worker. */
  var __vitest_mocker__: { moduleRunner: ModuleRunner } | undefined;
}

interface ModuleRunner {
  import(path: string): Promise<unknown>;
  keepsWorker?: true;
}

/** One of so many loads is real, because a runtime that never waits for another process fires no timers. */
const REAL_LOAD_EVERY = 64;

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
  runner.import = async (wanted) => (wanted === path && ++loads % REAL_LOAD_EVERY > 0 ? worker : load(wanted));
}
