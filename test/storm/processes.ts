import { readdir, readFile } from "node:fs/promises";

/** The runtimes in a process group; none where the system does not tell, as outside Linux. */
export async function workerds(group: number): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const are = await Promise.all(pids.map((pid) => isWorkerdOf(pid, group)));
  return pids.filter((_, at) => are[at]);
}

/** Megabytes that the runtimes of a process group hold. */
export async function memoryOf(group: number): Promise<number> {
  const held = await Promise.all((await workerds(group)).map(residentOf));
  return held.reduce((sum, bytes) => sum + bytes, 0);
}

async function isWorkerdOf(pid: number, group: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // `pid (name) state parent group …`
  const [, name, of] = /\((.*)\) \S \d+ (\d+)/.exec(stat) ?? [];
  return name === "workerd" && Number(of) === group;
}

async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024;
}
