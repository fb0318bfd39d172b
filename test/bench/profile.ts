import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lastingPort } from "../support/world/lasting-port.ts";
import { prepare, type RunSettings, withSetup } from "./bench.ts";
import type { Scripts } from "./build.ts";
import type { Case } from "./cases.ts";
import { type CpuProfile, startProfile, stopProfile } from "./cpu-profile.ts";
import { openInspector } from "./inspector.ts";
import { runOnce, WARM_UP_SECONDS } from "./rounds.ts";
import { type Front, withServer } from "./server.ts";

const SAMPLE_EVERY_MICROS = 200;

export interface FunctionSamples {
  name: string;
  /** The source file, or the module of the runtime. Empty for native functions. */
  file: string;
  /** Samples in the function itself, not in functions that it called. */
  samples: number;
}

export interface Profiled {
  worker: string;
  /** The path of the profile. */
  path: string;
  /** The function with the most samples first. */
  functions: FunctionSamples[];
}

/**
 * Runs one case and writes a CPU profile of the isolate that takes the requests and of the isolate that runs the
 * objects. The scripts are not minified, so functions keep their names.
 * @throws Error if the case gets a wrong response
 */
export async function profile(each: Case, settings: RunSettings & { folder: string }): Promise<Profiled[]> {
  const { seconds, folder, log } = settings;
  return withSetup(settings, { minify: false }, async (setup, drive) => {
    const [prepared] = await prepare(setup, [each], log);
    if (!prepared) throw new Error("There is no case");
    const workers = workersOf(each.front, setup.scripts);
    const port = await lastingPort();
    return withServer(setup, { counted: false, showErrors: false, inspector: port }, async (server) => {
      const run = (seconds: number) => runOnce(server.url(each.front), drive, prepared, seconds);
      await run(WARM_UP_SECONDS);
      const inspectors = await Promise.all(workers.map(({ name }) => openInspector(name, port)));
      log("Profiling");
      await Promise.all(inspectors.map((each) => startProfile(each, SAMPLE_EVERY_MICROS)));
      const { unexpected } = await run(seconds);
      const profiles = await Promise.all(inspectors.map(stopProfile));
      if (unexpected !== null) throw new Error(`${each.name} got a wrong response:\n${unexpected}`);
      return Promise.all(
        workers.map(async ({ name, script }, n) => {
          const made = profiles[n] as CpuProfile;
          const path = join(folder, `${fileName(each.name)}.${name}.cpuprofile`);
          await writeFile(path, JSON.stringify(made));
          return { worker: name, path, functions: functionsOf(made, filesOf(await readFile(script, "utf8"))) };
        }),
      );
    });
  });
}

/** The Worker that takes the requests, and the one that runs the objects. */
function workersOf(front: Front, scripts: Scripts): { name: string; script: string }[] {
  const isDelayed = front.startsWith("delayed");
  const service = isDelayed ? "parley" : (front as "floors" | "literal" | "parley");
  return [
    { name: front, script: isDelayed ? scripts.delayed : scripts[service] },
    { name: `${service}-objects`, script: scripts[service] },
  ];
}

/**
 * The samples of each function. They are counted, not weighed by the time between them: while the other isolate runs,
 * on the same thread, this one has no samples.
 */
function functionsOf({ nodes, samples }: CpuProfile, fileAt: (line: number) => string): FunctionSamples[] {
  const byId = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const counts = new Map<string, FunctionSamples>();
  for (const id of samples) {
    const { functionName = "", url = "", lineNumber = -1 } = byId.get(id) ?? {};
    if (functionName === "(idle)") continue;
    // The runtime has modules of its own.
    const file = url === "" || url.startsWith("node-internal:") ? url : fileAt(lineNumber);
    const name = functionName || (url === "" ? "(native)" : `(anonymous, line ${lineNumber + 1})`);
    const known = counts.get(`${name} ${file}`);
    counts.set(`${name} ${file}`, { name, file, samples: (known?.samples ?? 0) + 1 });
  }
  return [...counts.values()].sort((one, other) => other.samples - one.samples);
}

/** esbuild writes the path of each source file before its code, as a comment. */
function filesOf(script: string): (line: number) => string {
  let file = "";
  const files = script.split("\n").map((line) => {
    file = /^\/\/ (\S+\.[cm]?[jt]sx?)$/.exec(line)?.[1] ?? file;
    return file;
  });
  return (line) => files[line] ?? "";
}

function fileName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}
