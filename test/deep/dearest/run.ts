import { cpuTimeOf, runtimeProcess } from "../../support/cpu-time.ts";
import { Random } from "../../support/random.ts";
import { startService } from "../../support/world/service.ts";
import { type Dearest, dearest, dearPlace, type Send } from "./climb.ts";

/** The requests that cost most, over the socket of a service of its own. The seed determines where the search begins. */
export async function findDearest(count: number, seed: number): Promise<Dearest[]> {
  const service = await startService();
  try {
    const { place, secret } = await dearPlace(service.world);
    const pid = await runtimeProcess();
    const tokens = { key: secret, operator: service.secrets.ADMIN_TOKEN, nobody: null };
    const send: Send = async ({ method, path, as, headers = {}, body }) => {
      const token = tokens[as];
      const all = { ...(token !== null && { Authorization: `Bearer ${token}` }), ...headers };
      const before = cpuTimeOf(pid);
      const response = await fetch(new URL(path, service.url), { method, headers: all, body: body ?? null });
      await response.arrayBuffer();
      return { status: response.status, cost: cpuTimeOf(pid) - before };
    };
    return await dearest(place, send, count, new Random(seed));
  } finally {
    await service.stop();
  }
}

/** A line for each route, the dearest first. */
export function dearestText(found: readonly Dearest[]): string {
  const wide = Math.max(...found.map(({ route }) => route.length));
  const lines = found.map(({ route, cost, status, knobs, tried }) => {
    const numbers = Object.entries(knobs).map(([name, value]) => `${name} ${value}`);
    return `${cost.toFixed(1).padStart(8)} ms  ${status}  ${route.padEnd(wide)}  ${numbers.join(", ")}  (${tried} tried)`;
  });
  return `${lines.join("\n")}\n`;
}
