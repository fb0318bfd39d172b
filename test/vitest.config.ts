import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { VARIABLES } from "../src/config.ts";

const root = new URL("..", import.meta.url).pathname;

/** Secrets made for this run alone: no file of the repository holds one. */
function secret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
}

const runtime = cloudflareTest({
  wrangler: { configPath: `${root}wrangler.toml` },
  miniflare: {
    bindings: {
      // Every variable is set here, an optional one to nothing: what a developer keeps in .dev.vars changes no test.
      ...Object.fromEntries(VARIABLES.map((name) => [name, ""])),
      ADMIN_TOKEN: secret(),
      KEY_SECRET: secret(),
      CREDENTIALS_KEY: secret(),
      TEST_MIGRATIONS: await readD1Migrations(`${root}migrations`),
    },
  },
});

/** `unit` and `service` run in the Workers runtime, `cli` in Node. */
export default defineConfig({
  root,
  test: {
    silent: "passed-only",
    maxWorkers: 2,
    projects: [
      { plugins: [runtime], test: { name: "unit", include: ["test/unit/**/*.test.ts"] } },
      {
        plugins: [runtime],
        test: { name: "service", include: ["test/{routes,objects}/**/*.test.ts"], setupFiles: ["test/setup.ts"] },
      },
      { test: { name: "cli", include: ["test/cli/**/*.test.ts"], fileParallelism: false } },
    ],
  },
});
