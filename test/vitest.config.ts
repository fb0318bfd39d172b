import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const root = new URL("..", import.meta.url).pathname;

/** Bindings that no file of the repository holds: secrets made for this run alone. */
function secret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
}

export default defineConfig({
  root,
  plugins: [
    cloudflareTest({
      wrangler: { configPath: `${root}wrangler.toml` },
      miniflare: {
        bindings: {
          ADMIN_TOKEN: secret(),
          KEY_SECRET: secret(),
          CREDENTIALS_KEY: secret(),
          TEST_MIGRATIONS: await readD1Migrations(`${root}migrations`),
        },
      },
    }),
  ],
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    silent: "passed-only",
  },
});
