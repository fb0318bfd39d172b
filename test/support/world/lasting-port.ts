import { randomInt } from "node:crypto";
import { freePort } from "../../../src/cli/local/port.ts";

const TRIES = 20;

/**
 * A free port that systems don't give to outgoing connections. Until a server listens on it, or listens again, such a
 * connection could take the port.
 * @param ip as `freePort` takes it
 * @throws CommandError if none of twenty ports is free
 */
export async function lastingPort(ip = "127.0.0.1"): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return await freePort(randomInt(10_000, 32_000), ip);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}
