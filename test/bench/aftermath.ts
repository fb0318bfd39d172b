import { setTimeout } from "node:timers/promises";
import { cpuTime } from "../support/world/processes.ts";
import type { Case } from "./cases.ts";
import type { Driver } from "./driver.ts";
import { type Prepared, runOnce } from "./rounds.ts";
import type { Server } from "./server.ts";

/**
 * The CPU that follows a request of the cases with `followed`: what the server uses in the seconds after a turn, without
 * what it uses when nothing was asked, in microseconds a request. Outside Linux there is none.
 */
export async function measureAftermath(
  server: Server,
  prepared: Prepared[],
  { drive, seconds, afterSeconds }: { drive: Driver; seconds: number; afterSeconds: number },
): Promise<Map<Case, number>> {
  const used = async () => {
    const before = await cpuTime(server.pid);
    await setTimeout(afterSeconds * 1_000);
    const after = await cpuTime(server.pid);
    return before === null || after === null ? null : after - before;
  };
  const results = new Map<Case, number>();
  for (const { each, traffic } of prepared.filter(({ each }) => each.followed)) {
    // What follows the case before comes first.
    await used();
    const idle = await used();
    const { requests, unexpected } = await runOnce(server.url(each.front), drive, { each, traffic }, seconds);
    const after = await used();
    if (idle !== null && after !== null && unexpected === null) results.set(each, (after - idle) / requests);
  }
  return results;
}
