import { execFileSync } from "node:child_process";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { bundledWorker } from "./support/bundled-worker.ts";
import { LongFirst } from "./support/long-first.ts";
import ProgressReporter from "./support/progress-reporter.ts";
import { SeededOrder } from "./support/seeded-order.ts";
import { keepTemporaryFilesInMemory } from "./support/temporary-files.ts";
import { ALL_VARIABLES } from "./support/variables.ts";

const root = new URL("..", import.meta.url).pathname;

keepTemporaryFilesInMemory();

/** Secrets made for this run alone: no file of the repository holds one. */
function secret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
}

const runtime = cloudflareTest({
  // The runtime would print each error that a test makes on purpose.
  verbose: false,
  wrangler: { configPath: `${root}wrangler.toml` },
  miniflare: {
    // No test reaches a network: one that does not fake its own meets one that is down.
    outboundService: () => new Response("down", { status: 503 }),
    // Tests come from one address: the limit for strangers is no part of what they test.
    ratelimits: { STRANGERS: { namespace_id: "1001", simple: { limit: 1_000_000, period: 60 } } },
    bindings: {
      // Every variable is set, optional ones to nothing: a developer's .dev.vars changes no test.
      ...Object.fromEntries(ALL_VARIABLES.map((name) => [name, ""])),
      LOG_REQUESTS: "all",
      ADMIN_TOKEN: secret(),
      KEY_SECRET: secret(),
      CREDENTIALS_KEY: secret(),
      TEST_SEED: process.env.SEED ?? "",
      TEST_REQUESTS: process.env.REQUESTS ?? "",
      TEST_JITTER: process.env.JITTER ?? "",
      TEST_MODELS: process.env.MODELS ?? "",
      TEST_WALKS: process.env.WALKS ?? "",
      TEST_MUTATIONS: process.env.MUTATIONS ?? "",
      TEST_MIGRATIONS: await readD1Migrations(`${root}migrations`),
    },
  },
});

// The runtime wants the folder of the static files, as a deploy has it.
execFileSync(process.execPath, [`${root}src/web/build.ts`]);

/**
 * How long the tests of a project may take. Nothing takes this long, unless the machine is busy with something else.
 * Those of `npm run test:deep` are long, or run several processes.
 */
function patienceOf(project: string) {
  const ms = project.startsWith("deep-") || process.env.JITTER ? 300_000 : 90_000;
  // A red that comes once must say at once what it saw.
  const chaiConfig = { truncateThreshold: 1_000 };
  return { testTimeout: ms, hookTimeout: 2 * ms, expect: { poll: { timeout: 60_000 } }, chaiConfig };
}

/**
 * A call that a test file has left unfinished ends when the next file begins with empty storage. The runner learns of it,
 * but its response to that may come into a request that has ended, and is then missed at the end of the file.
 */
const LEFT_BEHIND = [
  "Application called deleteAllDurableObjects()",
  'Closing rpc while "onUnhandledError" was pending',
];

/** Replaces a module of the Worker, so it can't have the Worker in one bundle. */
const REPLACES_A_MODULE = "test/deep/service/chats/object/delivery/third-network.test.ts";

/**
 * In the Workers runtime, with the real Worker, D1 and objects. Each file has storage of its own. Files that share a
 * runtime load the Worker once: starting and loading takes longer than the tests of most files.
 */
function service(
  name: string,
  include: string[],
  { exclude = [] as string[], bundles = true, sharesRuntime = false } = {},
) {
  const plugins = bundles ? [bundledWorker(root), runtime] : [runtime];
  const setupFiles = ["test/support/setup.ts"];
  return { plugins, test: { ...patienceOf(name), name, include, exclude, setupFiles, isolate: !sharesRuntime } };
}

/** In Node. */
function node(name: string, include: string[], { globalSetup = [] as string[], isolate = true } = {}) {
  return { test: { ...patienceOf(name), name, include, globalSetup, isolate } };
}

/** One service for all tests of a browser. */
const BROWSER = ["test/browser/server.ts"];

/**
 * A simulation loads a copy of the service for each wrong version of it, and keeps all of them. Node loads them itself:
 * what Vitest adds to a module would fill the memory.
 */
const SIMULATIONS = {
  test: {
    ...patienceOf("deep-simulate"),
    name: "deep-simulate",
    include: ["test/simulate/**/*.test.ts"],
    server: { deps: { external: [/\/service\.mjs$/] } },
  },
};

/** `npm test` runs all projects but those whose name begins with `deep`; `npm run test:deep` runs those. */
export default defineConfig({
  root,
  test: {
    silent: "passed-only",
    reporters: [new ProgressReporter()],
    // Tests also wait, so two cores have work for three. The deep ones wait most: their script lets four run at a time.
    maxWorkers: 3,
    sequence: { sequencer: process.env.ORDER_SEED ? SeededOrder : LongFirst },
    onUnhandledError: ({ message }) => !LEFT_BEHIND.some((part) => message.includes(part)),
    projects: [
      service("service", ["test/{service,unit}/**/*.test.ts"], { sharesRuntime: true }),
      // Starting a process and loading what these test takes longer than the tests of most files.
      node("page", ["test/page/**/*.test.ts"], { isolate: false }),
      node("cli", ["test/{cli,wire,words}/**/*.test.ts"], { isolate: false }),
      // Its files replace modules.
      node("client", ["test/client/**/*.test.ts"]),
      service("deep-service", ["test/deep/{service,failing-steps,models,fuzz,flood,export}/**/*.test.ts"], {
        exclude: [REPLACES_A_MODULE],
      }),
      service("deep-service-modules", [REPLACES_A_MODULE], { bundles: false }),
      node("deep-browser", ["test/{browser,deep/browser}/**/*.test.ts"], { globalSetup: BROWSER }),
      SIMULATIONS,
      node("deep-node", ["test/{bench,deep/{storm,cli,client,page,smoke,dearest,networks}}/**/*.test.ts"]),
    ],
  },
});
