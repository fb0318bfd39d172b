#!/usr/bin/env node
// The package's `bin`. A Node that can't run TypeScript starts the Node of `npm ci` instead.
import { spawn } from "node:child_process";
import module, { createRequire } from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const main = new URL("main.ts", import.meta.url);

if (process.features.typescript) {
  // Compiling TypeScript takes half the time of a short command. Node caches the result in /tmp.
  module.enableCompileCache?.();
  await import(main.href);
} else {
  const node = createRequire(import.meta.url).resolve("node/package.json");
  const child = spawn(join(node, "../bin/node"), [fileURLToPath(main), ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal signals both processes. Other senders signal this one only.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
