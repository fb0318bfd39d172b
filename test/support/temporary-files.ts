import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder in memory, on Linux. */
export const MEMORY = "/dev/shm";
/** Several times as much as the tests were seen to use, with the unpacked browser. */
const PLENTY_BYTES = 2e9;
/** With less, tests fail in ways that don't say why. */
const NEEDED_BYTES = 1e9;
/** A single test may write as much. */
const LITTLE_BYTES = 100e6;
const WATCH_MS = 500;

/**
 * Gives this process and its children a new folder for their temporary files, which is removed when the process ends.
 * It is in memory, if the system has a place for that with enough room and `TMPDIR` names no other place: on a disk,
 * each commit of the local runtime waits for an fsync, which takes a third of the time of all tests. If the room runs
 * out later, a warning says so at once, and again at the end.
 * @throws Error that names the place and the room needed, if it lacks that
 */
export function keepTemporaryFilesInMemory(): void {
  const place = process.env.TMPDIR === undefined && freeBytes(MEMORY) >= PLENTY_BYTES ? MEMORY : tmpdir();
  requireRoom(place, NEEDED_BYTES);
  const folder = mkdtempSync(join(place, "parley-tests-"));
  process.env.TMPDIR = folder;
  const warn = (text: string) => void process.stderr.write(`\n${text}\n`);
  const warningOf = watchRoom(place, () => freeBytes(folder), warn);
  process.on("exit", () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    const warning = warningOf();
    if (warning !== null) warn(warning);
  });
  // Without this, the signal ends the process before it does what it does at its exit.
  process.once("SIGTERM", () => process.exit(143));
}

/** @throws Error that names the folder and the room needed, if the folder lacks it or can't be used */
export function requireRoom(folder: string, neededBytes: number): void {
  const free = freeBytes(folder);
  if (free >= neededBytes) return;
  const lack = Number.isNaN(free) ? "which is no folder that can be read" : `where ${size(free)} are free`;
  throw new Error(
    `The tests need ${size(neededBytes)} for temporary files in ${folder}, ${lack}. Make room there, or set TMPDIR to another folder.`,
  );
}

/**
 * Looks twice a second how much room a place has, while the process runs, and warns when it is little for the first time.
 * @param free the bytes that are free, or NaN
 * @returns what tells the warning that the least room seen deserves, or null if there was always enough
 */
export function watchRoom(place: string, free: () => number, warn: (text: string) => void): () => string | null {
  let least = Number.POSITIVE_INFINITY;
  const warning = () =>
    least >= LITTLE_BYTES
      ? null
      : `The room for temporary files ran out: ${place} had only ${size(least)} left. Tests that failed may have failed for that. They need ${size(NEEDED_BYTES)} there; TMPDIR names another folder.`;
  const look = () => {
    const wasEnough = least >= LITTLE_BYTES;
    const now = free();
    if (now < least) least = now;
    const text = warning();
    if (wasEnough && text !== null) warn(text);
  };
  look();
  setInterval(look, WATCH_MS).unref();
  return warning;
}

/** The bytes that are free for this user. NaN if there is no such folder. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.NaN;
  }
}

function size(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.floor(bytes / 1e6)} MB`;
}
