import { readdir, readFile } from "node:fs/promises";

/** The workerd processes of a process group. None outside Linux, which has no /proc. */
export async function workerds(group: number): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const are = await Promise.all(pids.map((pid) => isWorkerdOf(pid, group)));
  return pids.filter((_, at) => are[at]);
}

/** The memory of the workerd processes of a process group, in megabytes. */
export async function memoryOf(group: number): Promise<number> {
  const held = await Promise.all((await workerds(group)).map(residentOf));
  return held.reduce((sum, bytes) => sum + bytes, 0);
}

/** The CPU time of a process in microseconds. Null outside Linux. */
export async function cpuTime(pid: number): Promise<number | null> {
  try {
    const tasks = await readdir(`/proc/${pid}/task`);
    const stats = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/schedstat`, "utf8")));
    return stats.reduce((sum, stat) => sum + Number(stat.split(" ")[0]) / 1_000, 0);
  } catch {
    return null;
  }
}

async function isWorkerdOf(pid: number, group: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // `pid (name) state parent group …`
  const [, name, of] = /\((.*)\) \S \d+ (\d+)/.exec(stat) ?? [];
  return name === "workerd" && Number(of) === group;
}

/** The memory of a process, in megabytes; 0 outside Linux. */
async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024;
}
