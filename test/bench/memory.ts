import { readFile } from "node:fs/promises";
import type { Inspector } from "./inspector.ts";

/** The memory of a process, in MB; 0 outside Linux. */
export async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024) / 1e6;
}

/** What an isolate holds of JavaScript and of buffers, garbage included, in MB. */
export async function heldBy(isolate: Inspector): Promise<number> {
  const usage = await isolate.call<{ usedSize: number; backingStorageSize?: number }>("Runtime.getHeapUsage");
  return (usage.usedSize + (usage.backingStorageSize ?? 0)) / 1e6;
}
