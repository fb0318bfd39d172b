import { execFileSync } from "node:child_process";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import ProgressReporter from "./support/progress-reporter.ts";
import { ALL_VARIABLES } from "./variables.ts";

const root = new URL("..", import.meta.url).pathname;

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
    // Tests are strangers again and again, all from one place: what is counted of them is not what they are about.
    ratelimits: { STRANGERS: { namespace_id: "1001", simple: { limit: 1_000_000, period: 60 } } },
    bindings: {
      // Every variable is set here, an optional one to nothing: what a developer keeps in .dev.vars changes no test.
      ...Object.fromEntries(ALL_VARIABLES.map((name) => [name, ""])),
      ADMIN_TOKEN: secret(),
      KEY_SECRET: secret(),
      CREDENTIALS_KEY: secret(),
      TEST_SEED: process.env.SEED ?? "",
      TEST_REQUESTS: process.env.REQUESTS ?? "",
      TEST_MODELS: process.env.MODELS ?? "",
      TEST_MIGRATIONS: await readD1Migrations(`${root}migrations`),
    },
  },
});

// The runtime wants the folder of the assets to be there, with what a deploy would have in it.
execFileSync(process.execPath, [`${root}src/web/build.ts`]);

/** Milliseconds that no test takes but on a machine that is busy with something else. */
const PATIENCE = { testTimeout: 30_000, hookTimeout: 60_000 };

/** `unit` and `service` run in the Workers runtime, the others in Node; `browser` and `cli` start the whole service. */
export default defineConfig({
  root,
  test: {
    silent: "passed-only",
    reporters: [new ProgressReporter()],
    maxWorkers: 2,
    projects: [
      { plugins: [runtime], test: { ...PATIENCE, name: "unit", include: ["test/unit/**/*.test.ts"], isolate: false } },
      {
        plugins: [runtime],
        test: {
          ...PATIENCE,
          name: "service",
          include: ["test/{routes,objects,delivery,failing-steps,models,fuzz,flood}/**/*.test.ts"],
          setupFiles: ["test/setup.ts"],
        },
      },
      { test: { ...PATIENCE, name: "web", include: ["test/web/**/*.test.ts"] } },
      {
        test: {
          ...PATIENCE,
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          globalSetup: ["test/browser/server.ts"],
        },
      },
      { test: { ...PATIENCE, name: "simulate", include: ["test/simulate/**/*.test.ts"] } },
      { test: { ...PATIENCE, name: "cli", include: ["test/{bench,cli,storm,wire}/**/*.test.ts"] } },
    ],
  },
});
