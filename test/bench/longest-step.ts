import { cpuTimeOf } from "../support/cpu-time.ts";
import { type CpuProfile, startProfile, stopProfile } from "./cpu-profile.ts";
import { openInspector } from "./inspector.ts";
import type { Server } from "./server.ts";
import type { Turn } from "./step-call.ts";

/** The runtime's CPU time at a moment, in ms. */
interface Sample {
  at: number;
  cpu: number;
}

const SAMPLE_MS = 1;

/**
 * Measures the longest step of objects' code while something runs, in ms: for how long an object lets no other call in. A
 * step ends where the event loop turns. An `await` ends none, unless it waits for a timer, a socket or a call.
 *
 * An object with nothing to do notes each turn of the event loop. Of a turn only the CPU time counts that the runtime's thread
 * used meanwhile, which is read each millisecond. So a busy machine changes little: the figure may have short steps from
 * before and after. Collections of garbage don't count: the heap that they clear is that of all objects here.
 *
 * All objects share the thread here. Calls between them pass one by one, each in a turn of its own, as when they come over
 * a network (`workers/turns.ts`). So a chain of short steps is no long step.
 * @param inspector the port of the server's inspector
 */
export async function longestStep(server: Server, inspector: number, run: () => Promise<unknown>): Promise<number> {
  const ask = (path: string) => fetch(new URL(path, server.url("parley")), { method: "POST" });
  const isolates = await Promise.all(["parley", "parley-objects"].map((name) => openInspector(name, inspector)));
  await Promise.all(isolates.map((isolate) => startProfile(isolate, SAMPLE_MS * 1_000)));
  const samples: Sample[] = [];
  const sample = () => void samples.push({ at: Date.now(), cpu: cpuTimeOf(server.pid) });
  sample();
  const sampling = setInterval(sample, SAMPLE_MS);
  try {
    await ask("/bench/watch");
    const failed = await run().then(
      () => null,
      (error: unknown) => ({ error }),
    );
    const turns = (await (await ask("/bench/watch/end")).json()) as Turn[];
    if (failed) throw failed.error;
    sample();
    const profiles = await Promise.all(isolates.map(stopProfile));
    const collections = profiles.flatMap(collectionsIn);
    const steps = turns.map((turn) => Math.min(turn.to - turn.from, cpuIn(turn, samples)) - within(turn, collections));
    return Math.max(0, ...steps);
  } finally {
    clearInterval(sampling);
    await Promise.all(isolates.map((isolate) => isolate.close()));
  }
}

/** The CPU time that was used from the last sample before a turn to the first one after it. */
function cpuIn({ from, to }: Turn, samples: Sample[]): number {
  const before = samples.findLast(({ at }) => at < from) ?? samples[0];
  const after = samples.find(({ at }) => at > to) ?? samples.at(-1);
  return (after?.cpu ?? 0) - (before?.cpu ?? 0);
}

/** When each sample of a profile was taken that found the isolate collecting garbage, Unix milliseconds. */
function collectionsIn({ nodes, samples, startTime, timeDeltas }: CpuProfile): number[] {
  const collector = nodes.find(({ callFrame }) => callFrame.functionName === "(garbage collector)")?.id;
  // Both clocks now, so that one can be told from the other.
  const ahead = Date.now() - Number(process.hrtime.bigint()) / 1e6;
  let at = startTime / 1_000 + ahead;
  return samples.flatMap((id, n) => {
    at += (timeDeltas[n] ?? 0) / 1_000;
    return id === collector ? [at] : [];
  });
}

/** How long garbage was collected during a turn, in ms. No more than it was: samples are at least so far apart. */
function within({ from, to }: Turn, collections: number[]): number {
  return collections.filter((at) => at >= from && at <= to).length * SAMPLE_MS;
}
