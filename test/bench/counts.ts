import { drive } from "./driver.ts";
import { loadOf, type Prepared, warmUp } from "./rounds.ts";
import type { Server } from "./server.ts";
import type { Tally } from "./tally.ts";

/** Requests that are counted: at least, and of each connection. As many are sent before. */
const AT_LEAST = 64;
const OF_EACH = 4;

/**
 * What one request of a case costs on average, as the builds with counters count it. Null for a case without counters.
 * Requests at a pace are counted for a few seconds.
 * @throws Error if the case gets a wrong response
 */
export async function countCase(
  server: Server,
  prepared: Prepared,
  { seconds, warmUpSeconds }: { seconds: number; warmUpSeconds: number },
): Promise<Tally | null> {
  const { name, front, connections, perSecond = 0 } = prepared.each;
  if ((front !== "parley" && front !== "literal") || prepared.traffic.run) return null;
  const load = loadOf(server.url(front), prepared);
  const few = Math.max(AT_LEAST, connections * OF_EACH);
  const requests = Math.max(few, Math.ceil(perSecond * seconds));
  await drive(load, { requests: few });
  await warmUp(load.url, prepared, warmUpSeconds);
  await tally(server, front);
  const { unexpected } = await drive(load, { requests });
  if (unexpected) throw new Error(`${name} got a wrong response:\n${unexpected}`);
  const total = await tally(server, front);
  const each = Object.entries(total).map(([name, count]) => [name, count / requests]);
  return Object.fromEntries(each) as Tally;
}

/** What both isolates have counted since the last call. */
async function tally(server: Server, service: "literal" | "parley"): Promise<Tally> {
  const asked = ([service, `${service}-objects`] as const).map(async (front) => {
    const response = await fetch(new URL("/bench/tally", server.url(front)));
    return (await response.json()) as Tally;
  });
  const [worker, objects] = (await Promise.all(asked)) as [Tally, Tally];
  const names = Object.keys(worker) as (keyof Tally)[];
  return Object.fromEntries(names.map((name) => [name, worker[name] + objects[name]])) as unknown as Tally;
}
