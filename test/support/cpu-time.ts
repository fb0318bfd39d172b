import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";

/**
 * The CPU time of a process's first thread, in ms. Where the system does not tell, the clock's time counts. It is read at
 * once: work that begins while a file is being read would count to what came before it.
 */
export function cpuTimeOf(pid: number | null): number {
  const text = pid === null ? null : textNow(`/proc/${pid}/task/${pid}/schedstat`);
  return text === null ? performance.now() : Number(text.split(" ")[0]) / 1e6;
}

/** The process of this one that runs the Workers; null where the system does not tell. */
export async function runtimeProcess(): Promise<number | null> {
  const tasks = await readdir(`/proc/${process.pid}/task`).catch(() => []);
  const children = await Promise.all(tasks.map((task) => textOf(`/proc/${process.pid}/task/${task}/children`)));
  for (const pid of children.join(" ").split(" ").filter(Boolean)) {
    if ((await textOf(`/proc/${pid}/comm`))?.trim() === "workerd") return Number(pid);
  }
  return null;
}

function textNow(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function textOf(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch(() => null);
}
