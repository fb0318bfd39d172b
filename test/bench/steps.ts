import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { piecesOf } from "../../src/web/shared/links.ts";
import { lastingPort } from "../support/world/lasting-port.ts";
import { type RunSettings, withSetup } from "./bench.ts";
import { longestStep } from "./longest-step.ts";
import { withServer } from "./server.ts";
import { shown } from "./sizes.ts";
import { type StepCase, type StepSizes, stepCases } from "./step-cases.ts";
import { StepPlace } from "./step-fixtures.ts";

/** The longest step of a route or an alarm. */
export interface StepRow {
  name: string;
  data: string;
  /** In ms. */
  longest: number;
  /** What it may take, in ms. */
  allowed: number;
  /** Why there is no figure; null if there is one. */
  failed: string | null;
}

/** What no step of an object may exceed, in ms. */
const ALLOWED_MS = 50;
const REPEATS = 3;
/** How long the runtime is watched without work. */
const IDLE_MS = 300;
/** The case that needs no service, and takes milliseconds. */
export const LINKS = "links of a message, in the pages";
const BRACKETS = 4_000;

/**
 * Measures the longest step of routes and alarms on data that makes them dear. A case that leaves its data as it is runs
 * three times, and the least of its figures counts: a collection of garbage seldom comes thrice.
 * @param isMeasured by the name of a case
 */
export function measureSteps(
  sizes: StepSizes,
  isMeasured: (name: string) => boolean,
  settings: RunSettings,
): Promise<{ rows: StepRow[]; idle: number }> {
  const cases = stepCases(sizes).filter(({ name }) => isMeasured(name));
  return withSetup(settings, { minify: false }, async (shared) => {
    const inspector = await lastingPort();
    const options = { counted: true, showErrors: false, inspector };
    const { ADMIN_TOKEN } = shared.secrets;
    const rows: StepRow[] = [];
    let idle = 0;
    for (const [number, each] of cases.entries()) {
      // Each case has storage of its own: the alarms of one would run beside another.
      const folder = join(shared.folder, `case-${number}`);
      await mkdir(join(folder, "data"), { recursive: true });
      const setup = { ...shared, folder, scripts: { ...shared.scripts, counted: shared.scripts.steps } };
      settings.log(`Making: ${each.name}, ${each.data}`);
      const run = await withServer(setup, options, async (server) => {
        await StepPlace.migrate(server, ADMIN_TOKEN);
        return each.make(new StepPlace(server, ADMIN_TOKEN)).catch((error: unknown) => new Error(String(error)));
      });
      // Objects that start anew see what was written into their storage from outside.
      const row = await withServer(setup, options, async (server) => {
        const place = new StepPlace(server, ADMIN_TOKEN);
        const watched = (work: () => Promise<unknown>) => longestStep(server, inspector, work);
        idle = Math.max(idle, await watched(() => delay(IDLE_MS)));
        return measured(each, async () => {
          if (run instanceof Error) throw run;
          return watched(() => run(place));
        });
      });
      settings.log(`${row.longest.toFixed(1)} ms: ${each.name}, ${each.data}`);
      rows.push(row);
      await rm(folder, { recursive: true });
    }
    if (isMeasured(LINKS)) rows.push(linksRow());
    return { rows, idle };
  });
}

async function measured({ name, data, isOnce, allowed = ALLOWED_MS }: StepCase, once: () => Promise<number>) {
  const times: number[] = [];
  try {
    for (let n = 0; n < (isOnce ? 1 : REPEATS); n++) times.push(await once());
    return { name, data, longest: Math.min(...times), allowed, failed: null };
  } catch (error) {
    return { name, data, longest: 0, allowed, failed: String(error).slice(0, 200) };
  }
}

/** The pages find the links of a message in one step. */
function linksRow(): StepRow {
  const text = `https://example.com/${")".repeat(BRACKETS)}`;
  const times = Array.from({ length: REPEATS }, () => {
    const begun = performance.now();
    piecesOf(text);
    return performance.now() - begun;
  });
  const data = `a link with ${shown(BRACKETS)} brackets`;
  return {
    name: LINKS,
    data,
    longest: Math.min(...times),
    allowed: ALLOWED_MS,
    failed: null,
  };
}

export function stepsText({ rows, idle }: { rows: StepRow[]; idle: number }): string {
  const lines = rows.map(
    ({ name, data, longest, allowed, failed }) =>
      [
        name,
        data,
        failed ?? `${longest.toFixed(1)} ms`,
        failed === null && longest > allowed ? "TOO LONG" : "",
      ] as const,
  );
  const wide = (at: 0 | 1) => Math.max(...lines.map((line) => line[at].length));
  const text = lines.map(([name, data, step, mark]) =>
    `${name.padEnd(wide(0))}  ${data.padEnd(wide(1))}  ${step.padStart(10)}  ${mark}`.trimEnd(),
  );
  return `The longest step of each route and alarm. Without any work, a step took up to ${idle.toFixed(1)} ms.\n\n${text.join("\n")}\n`;
}
