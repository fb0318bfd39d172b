import { execFile } from "node:child_process";
import { access, constants, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Driver, type Load, nodeDriver } from "./driver.ts";

const SCRIPT = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** For a load whose requests may not be sent twice: more than the service can take in a second. */
const MADE_PER_SECOND = 10_000;

/** What wrk.lua prints. Percentiles in microseconds. */
interface Printed {
  requests: number;
  micros: number;
  p50: number;
  p99: number;
  cpuSeconds: number;
  /** Connections that failed, and requests without a response. */
  failures: number;
  unexpected: string | null;
}

/** The path of wrk, if a folder of `PATH` has it. Otherwise null. */
export async function findWrk(path = process.env.PATH ?? ""): Promise<string | null> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, "wrk");
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return null;
}

/**
 * The driver that runs wrk. `folder` is for the file of requests. wrk counts whole seconds, so parts are rounded up.
 *
 * One thread of wrk spends 12 µs of CPU on a request to a bare route, and the runtime at least four times as much.
 * Reading the status of each response, with its headers, adds up to 4 µs.
 *
 * wrk knows no pace, so requests with one are sent from Node.
 */
export function wrkDriver(wrk: string, folder: string): Driver {
  return async (load, given) => {
    if (load.perSecond !== undefined) return nodeDriver(load, given);
    const seconds = Math.ceil(given);
    const requests = requestsOf(load, seconds);
    const file = join(folder, "requests");
    await writeFile(file, requests.map((request) => `${request}\0`).join(""), "latin1");
    const { stdout } = await promisify(execFile)(wrk, [
      "--threads=1",
      `--connections=${load.connections}`,
      `--duration=${seconds}s`,
      "--timeout=10s",
      `--script=${SCRIPT}`,
      load.url.href,
      "--",
      file,
      load.statuses.join(),
    ]);
    const printed = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as Printed;
    return {
      requests: printed.requests,
      seconds: printed.micros / 1e6,
      p50: printed.p50 / 1_000,
      p99: printed.p99 / 1_000,
      driverShare: printed.cpuSeconds / (printed.micros / 1e6),
      unexpected: problemOf(printed, load, requests.length),
    };
  };
}

function requestsOf({ request, different }: Load, seconds: number): string[] {
  const count = Number.isFinite(different) ? different : seconds * MADE_PER_SECOND;
  return Array.from({ length: count }, (_, n) => request(n));
}

function problemOf({ requests, failures, unexpected }: Printed, load: Load, made: number): string | null {
  if (unexpected !== null) return unexpected;
  if (failures > 0) return `wrk counted ${failures} failed connections or requests without a response`;
  if (requests === 0) return "wrk got no response";
  // Each connection may have a request under way at the end.
  if (!Number.isFinite(load.different) && requests + load.connections >= made) {
    return `wrk sent more than the ${made} requests that were made for it, so some twice`;
  }
  return null;
}
