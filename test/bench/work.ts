import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { lastingPort } from "../support/world/lasting-port.ts";
import { type RunSettings, withSetup } from "./bench.ts";
import { Place } from "./fixtures.ts";
import { type Setup, withServer } from "./server.ts";
import { shown } from "./sizes.ts";
import { quantile } from "./statistics.ts";
import { type Column, textTable } from "./table.ts";
import type { WorkCase } from "./work-cases.ts";
import { type ServerMemory, type Timing, WorkGround } from "./work-ground.ts";

export interface WorkSettings extends RunSettings {
  /** How much work; null for as much as the case has. */
  amount: number | null;
  /** After which the work stops, even if something is left. */
  minutes: number;
}

/** Work that was measured, with what was noted meanwhile. */
export interface WorkMeasurement extends Pick<WorkGround, "times" | "memory" | "faults" | "remarks"> {
  each: WorkCase;
  amount: number;
  /** Null if it can't be counted. */
  done: number | null;
  seconds: number;
  /** MB by which the runtime's memory grew more than in the case that it is compared to. */
  growth: number | null;
}

/** How long the sends run before the work. Those of the warm-up don't count. */
const WARM_UP_MS = 1_000;
const BEFORE_MS = 3_000;
const SHOWN_FAULTS = 20;

/** Does the work of each case beside sends and lists of chats. Each case has data and a server of its own. */
export function measureWork(cases: readonly WorkCase[], settings: WorkSettings): Promise<WorkMeasurement[]> {
  return withSetup(settings, { minify: true }, async (shared) => {
    const all: WorkMeasurement[] = [];
    for (const [number, each] of cases.entries()) {
      const folder = join(shared.folder, `work-${number}`);
      await mkdir(join(folder, "data"), { recursive: true });
      const measured = await measure({ ...shared, folder }, each, settings);
      const growth = growthOf(measured, all);
      const most = each.growth?.megabytes ?? Number.POSITIVE_INFINITY;
      if (growth !== null && growth >= most) measured.faults.push(`The goal is less than ${most} MB more`);
      all.push({ ...measured, growth });
      await rm(folder, { recursive: true });
    }
    return all;
  });
}

type Measured = Omit<WorkMeasurement, "growth">;

async function measure(setup: Setup, each: WorkCase, { amount: asked, minutes, log }: WorkSettings): Promise<Measured> {
  const amount = asked ?? each.amount;
  const { ADMIN_TOKEN } = setup.secrets;
  log(`Making: ${each.name}, ${shown(amount)} ${each.unit}`);
  const work = await withServer(setup, { counted: true, showErrors: true }, async (server) => {
    const place = new Place(server, ADMIN_TOKEN);
    await place.migrate();
    return each.make(place, amount);
  });
  const inspector = await lastingPort();
  // The service as it is deployed: counters fill the heap, and then a collection of garbage holds up a send.
  return withServer(setup, { counted: false, showErrors: false, inspector }, async (server) => {
    const ground = await WorkGround.of(server, ADMIN_TOKEN, inspector);
    try {
      await work.open?.(ground);
      await ground.beside(null, work, each.perSecond, () => delay(WARM_UP_MS));
      await ground.beside("before", work, each.perSecond, () => delay(BEFORE_MS));
      log(`Measuring: ${each.name}`);
      const begun = performance.now();
      ground.endsAt = begun + minutes * 60_000;
      let seconds = 0;
      const done = await ground.beside("meanwhile", work, each.perSecond, () =>
        work.run(ground).finally(() => {
          seconds = (performance.now() - begun) / 1_000;
        }),
      );
      await ground.weigh("after");
      await work.check?.(ground);
      const { times, memory, faults, remarks } = ground;
      return { each, amount, done, seconds, times, memory, faults, remarks };
    } finally {
      await ground.close();
    }
  });
}

/** Null if the case is compared to none, or the other one was not measured. */
function growthOf({ each, memory }: Measured, others: readonly Measured[]): number | null {
  const other = others.find(({ each: { name } }) => name === each.growth?.than);
  const most = (rows: ServerMemory[], when: string) => rows.find(({ name }) => name.startsWith(when))?.process ?? 0;
  const grown = (rows: ServerMemory[]) => most(rows, "meanwhile") - most(rows, "before");
  return other ? grown(memory) - grown(other.memory) : null;
}

type Times = [name: string, timings: Timing[]];

const TIMES: Column<Times>[] = [
  ["times", ([name]) => name],
  ["count", ([, timings]) => shown(timings.length)],
  ["p50 ms", ([, timings]) => quantileOf(timings, 0.5)],
  ["p99 ms", ([, timings]) => quantileOf(timings, 0.99)],
  ["longest gap ms", ([, timings]) => longestGap(timings).toFixed(1)],
];

const MEMORY: Column<ServerMemory>[] = [
  ["memory in MB", ({ name }) => name],
  ["process", ({ process }) => process.toFixed(1)],
  ["Worker", ({ worker }) => worker.toFixed(1)],
  ["objects", ({ objects }) => objects.toFixed(1)],
];

function quantileOf(timings: Timing[], share: number): string {
  return quantile(
    timings.map(({ took }) => took),
    share,
  ).toFixed(2);
}

/** The longest time between the ends of two that followed each other. */
function longestGap(timings: Timing[]): number {
  const ends = timings.map(({ at }) => at).toSorted((one, other) => one - other);
  return ends.reduce((longest, at, n) => Math.max(longest, at - (ends[n - 1] ?? at)), 0);
}

export function workText({
  each,
  amount,
  done,
  seconds,
  times,
  memory,
  growth,
  faults,
  remarks,
}: WorkMeasurement): string {
  const much = done === null ? shown(amount) : `${shown(done)} of ${shown(amount)}`;
  const rate = done === null ? "" : `, ${shown(Number((done / seconds).toPrecision(3)))} a second`;
  return [
    `${each.name}: ${much} ${each.unit} in ${seconds.toFixed(1)} s${rate}, beside ${each.perSecond} sends a second`,
    textTable(TIMES, [...times]),
    textTable(MEMORY, memory),
    ...(growth === null ? [] : [`${growth.toFixed(1)} MB more of the process than ${each.growth?.than}`]),
    ...remarks,
    ...faults.slice(0, SHOWN_FAULTS).map((fault) => `FAULT: ${fault}`),
    "",
  ].join("\n\n");
}
