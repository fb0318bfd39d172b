import type { Case, Traffic } from "./cases.ts";
import { drive } from "./driver.ts";
import type { Server } from "./server.ts";
import type { Tally } from "./tally.ts";

/** How many requests of each connection are counted, after as many to warm up. */
const COUNTED = 20;

/** What one request of a case costs, on average, as counted by the instrumented service. */
export async function countCase(server: Server, { front, connections }: Case, traffic: Traffic): Promise<Tally | null> {
  if (front !== "parley" || traffic.run) return null;
  const requests = connections * COUNTED;
  const load = { url: server.url(front), connections, ...traffic };
  await drive(load, { requests });
  await tally(server);
  const { unexpected } = await drive(load, { requests });
  if (unexpected) throw new Error(unexpected);
  const total = await tally(server);
  const each = Object.entries(total).map(([name, count]) => [name, count / requests]);
  return Object.fromEntries(each) as Tally;
}

/** What both isolates have counted since they were last asked. */
async function tally(server: Server): Promise<Tally> {
  const asked = (["parley", "objects"] as const).map(async (front) => {
    const response = await fetch(new URL("/bench/tally", server.url(front)));
    return (await response.json()) as Tally;
  });
  const [worker, objects] = (await Promise.all(asked)) as [Tally, Tally];
  const names = Object.keys(worker) as (keyof Tally)[];
  return Object.fromEntries(names.map((name) => [name, worker[name] + objects[name]])) as unknown as Tally;
}
