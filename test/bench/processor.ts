import { readdir, readFile } from "node:fs/promises";

/** Microseconds that a process has spent on its cores; null where the system does not tell, as outside Linux. */
export async function cpuTime(pid: number): Promise<number | null> {
  try {
    const tasks = await readdir(`/proc/${pid}/task`);
    const stats = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/schedstat`, "utf8")));
    return stats.reduce((sum, stat) => sum + Number(stat.split(" ")[0]) / 1_000, 0);
  } catch {
    return null;
  }
}
