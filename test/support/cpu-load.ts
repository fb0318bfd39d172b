import { spawn } from "node:child_process";
import { once } from "node:events";

/** It loops until its input ends, so it ends with the process that started it, however that ends. */
const BUSY = `
  process.stdin.on("end", () => process.exit()).resume();
  const loop = () => {
    const end = performance.now() + 50;
    while (performance.now() < end);
    setImmediate(loop);
  };
  loop();
`;

/** Keeps the CPU busy with some processes. @returns what ends them */
export function beginLoad(processes: number): () => Promise<void> {
  const busy = Array.from({ length: processes }, () =>
    spawn(process.execPath, ["-e", BUSY], { stdio: ["pipe", "ignore", "ignore"] }),
  );
  const exits = busy.map((child) => once(child, "exit"));
  return async () => {
    for (const child of busy) child.kill("SIGKILL");
    await Promise.all(exits);
  };
}
