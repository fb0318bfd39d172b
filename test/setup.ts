import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as worker from "../src/index.ts";
import { watchForSecrets } from "./canaries.ts";

declare global {
  /** Vitest's own: the plugin for the Workers runtime loads through it what is tested. */
  var __vitest_mocker__: { moduleRunner: { import(path: string): Promise<unknown> } };
}

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);

watchForSecrets();

// Before each request and each call of an object the plugin asks Vite, in another process, for the Worker: most of the
// time that a test takes. It always gets this one. Some still ask: a runtime that waits for nobody fires no timer.
const { moduleRunner } = globalThis.__vitest_mocker__;
const path = new URL("../src/index.ts", import.meta.url).pathname;
const ask = moduleRunner.import.bind(moduleRunner);
let loads = 0;
moduleRunner.import = async (wanted) => (wanted === path && ++loads % 64 > 0 ? worker : ask(wanted));
