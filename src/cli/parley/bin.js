#!/usr/bin/env node
// The package's `bin`, for whatever Node a shell finds: what can't read TypeScript hands over to the Node of `npm ci`.
import { spawn } from "node:child_process";
import module, { createRequire } from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const main = new URL("main.ts", import.meta.url);

if (process.features.typescript) {
  // Reading and compiling TypeScript is half of what a short command takes; Node keeps the result in the system's /tmp.
  module.enableCompileCache?.();
  await import(main.href);
} else {
  const node = createRequire(import.meta.url).resolve("node/package.json");
  const child = spawn(join(node, "../bin/node"), [fileURLToPath(main), ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal signals both of us; whoever signals this process alone means the child.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
