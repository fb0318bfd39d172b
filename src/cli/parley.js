#!/usr/bin/env node
// The package's `bin`, for whatever Node a shell finds: what can't read TypeScript hands over to the Node of `npm ci`.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { join } from "node:path";

const main = new URL("parley/main.ts", import.meta.url);

if (process.features.typescript) await import(main.href);
else {
  const node = createRequire(import.meta.url).resolve("node/package.json");
  const child = spawn(join(node, "../bin/node"), [main.pathname, ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal signals both of us; whoever signals this process alone means the child.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
