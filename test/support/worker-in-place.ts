import { maybeHandleRunRequest } from "cloudflare:test-internal";
import { env } from "cloudflare:workers";
import * as worker from "../../src/index.ts";
import { watched } from "./alarms.ts";

declare global {
  /** The name under which Vitest's plugin for the Workers runtime loads the tested Worker. */
  var __vitest_mocker__: { moduleRunner: ModuleRunner } | undefined;
  /** What Vitest tells a test file. */
  var __vitest_worker__: { filepath: string; providedContext: { cloudflarePoolOptions: string } };
}

interface ModuleRunner {
  import(path: string): Promise<unknown>;
  keepsWorker?: true;
}

interface Runners {
  get(name: string): { fetch(url: string, init: { cf: object }): Promise<Response> };
}

const INDEX = new URL("../../src/index.ts", import.meta.url).pathname;
/** The plugin's own object, in which test files run. */
const RUNNER = "__VITEST_POOL_WORKERS_RUNNER_OBJECT";
/** The plugin's way to the process that started the runtime. */
const OUTSIDE = "__VITEST_POOL_WORKERS_LOOPBACK_SERVICE";
/**
 * One of this many requests and calls asks another process first, which answers at once. The runtime fires timers only
 * while all of its calls wait for another process.
 */
const OUTSIDE_EVERY = 64;

const tested = watched(worker);
let loads = 0;
let asksForWorker = false;

/**
 * Keeps the plugin from loading the Worker again and again. Before each request and each call to an object, it asks an
 * object of its own for the Worker, which asks Vite in another process. The response never changes. Call it in each test
 * file. Without it the tests pass, but take longer.
 */
export function keepWorkerInPlace(): void {
  const runner = globalThis.__vitest_mocker__?.moduleRunner;
  if (runner && !runner.keepsWorker) {
    runner.keepsWorker = true;
    const load = runner.import.bind(runner);
    // After `vi.resetModules` a load returns another copy, which breaks the objects of this one.
    runner.import = async (wanted) => (wanted === INDEX ? tested : load(wanted));
  }
  noticeQuestions();
}

/** The plugin reads its options right before it asks for the Worker, and in the same step. */
function noticeQuestions(): void {
  const context = globalThis.__vitest_worker__.providedContext;
  const options = context.cloudflarePoolOptions;
  Object.defineProperty(context, "cloudflarePoolOptions", {
    get() {
      asksForWorker = true;
      queueMicrotask(() => {
        asksForWorker = false;
      });
      return options;
    },
  });
}

const bindings = env as unknown as { [RUNNER]?: Runners; [OUTSIDE]: Fetcher };
const runners = bindings[RUNNER];
if (runners) {
  bindings[RUNNER] = {
    get(name) {
      if (!asksForWorker) return runners.get(name);
      asksForWorker = false;
      return { fetch: (_url, { cf }) => answerInPlace(cf) };
    },
  };
}

async function answerInPlace(cf: object): Promise<Response> {
  if (++loads % OUTSIDE_EVERY === 0) await bindings[OUTSIDE].fetch("http://placeholder/");
  return (await maybeHandleRunRequest({ cf }, null, null)) as Response;
}
