#!/usr/bin/env node
// The `bin` of the package, which has JavaScript only.
if (Number.parseInt(process.versions.node, 10) >= 22) {
  await import("./main.js");
} else {
  process.stderr.write(`✗ The parley command needs Node 22 or later. This is Node ${process.versions.node}.\n`);
  process.exitCode = 1;
}
