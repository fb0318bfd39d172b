import { randomInt } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../src/cli/local/port.ts";

const TRIES = 20;
/** Systems don't give these to outgoing connections. A server's inspector gets the one 10,000 below. */
const PORTS = { first: 22_001, last: 31_999 };

const reserved = new Set<string>();
process.once("exit", () => {
  for (const path of reserved) rmSync(path, { force: true });
});

/**
 * A free port that no other process of the tests is given while this one runs, nor the system to an outgoing
 * connection: until a server listens on it, or listens again, either could take it.
 * @param ip as `freePort` takes it
 * @throws Error if none of twenty ports is free
 */
export async function lastingPort(ip = "127.0.0.1"): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = randomInt(PORTS.first, PORTS.last + 1);
    try {
      await reserve(port);
      return await freePort(port, ip);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

/** Processes that have the same folder for temporary files see each other's files. @throws Error if another has the port */
async function reserve(port: number): Promise<void> {
  const folder = join(tmpdir(), "parley-ports");
  await mkdir(folder, { recursive: true });
  const path = join(folder, String(port));
  await writeFile(path, "", { flag: "wx" });
  reserved.add(path);
}
