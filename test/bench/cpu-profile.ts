import type { Inspector } from "./inspector.ts";

/** The CPU profile of one isolate, as the Chrome DevTools Protocol has it. */
export interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  /** The id of the node of each sample. */
  samples: number[];
  /** The monotonic clock of the machine, in microseconds. */
  startTime: number;
  /** The time from each sample to the one before it, in microseconds. */
  timeDeltas: number[];
}

export async function startProfile(inspector: Inspector, everyMicros: number): Promise<void> {
  await inspector.call("Profiler.enable");
  await inspector.call("Profiler.setSamplingInterval", { interval: everyMicros });
  await inspector.call("Profiler.start");
}

/** Ends a profile, and the connection. */
export async function stopProfile(inspector: Inspector): Promise<CpuProfile> {
  const { profile } = await inspector.call<{ profile: CpuProfile }>("Profiler.stop");
  await inspector.close();
  return profile;
}
