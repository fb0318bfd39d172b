import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** A folder in memory, on Linux. */
export const MEMORY = "/dev/shm";
/** Several times as much as the tests were seen to use, with the unpacked browser. */
const NEEDED_BYTES = 2e9;

/**
 * Keeps the temporary files of this process and its children in memory, if the system has a place for that with enough
 * room. On a disk, each commit of the local runtime waits for an fsync, which takes a third of the time of all tests.
 * The files are removed when the process ends.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || freeBytes() < NEEDED_BYTES) return;
  const folder = mkdtempSync(join(MEMORY, "parley-tests-"));
  process.env.TMPDIR = folder;
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
