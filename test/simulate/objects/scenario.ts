import type { Replacement } from "./bundle.ts";
import { Violation, type World } from "./world.ts";

/** How one seed of a simulation of objects ended. */
export interface ObjectRun {
  events: number;
  counts: ReadonlyMap<string, number>;
  checks: ReadonlyMap<string, number>;
  violation: { invariant: string; text: string } | null;
  /** What happened, line by line, if it was asked for. */
  trace: readonly string[];
}

/** Runs one seed's simulation. A violated check ends it, and any other error is thrown. */
export async function runSeed(
  seed: number,
  world: World<string, string>,
  simulation: { run(): Promise<void>; close(): void },
): Promise<ObjectRun> {
  let violation: ObjectRun["violation"] = null;
  try {
    await simulation.run();
  } catch (error) {
    if (!(error instanceof Violation)) throw new Error(`Seed ${seed} failed`, { cause: error });
    violation = { invariant: error.invariant, text: error.message };
  } finally {
    simulation.close();
  }
  const { events, counts, checks, trace } = world;
  return { events, counts, checks, violation, trace: trace ?? [] };
}

/** A simulation of the service's objects. */
export interface Scenario<Service> {
  /** Loads the service. */
  load: (replacements?: readonly Replacement[]) => Promise<Service>;
  simulate: (service: Service, seed: number, isTraced?: boolean) => Promise<ObjectRun>;
  faults: readonly string[];
  /** What else must come about, or a series shows nothing. */
  events: readonly string[];
  /** What must hold, by name. */
  invariants: Readonly<Record<string, string>>;
  /** Wrong versions of the service, each with one wrong place. */
  saboteurs: Readonly<Record<string, Replacement>>;
  /** A wrong version must be found in this many seeds. */
  saboteurSeeds: number;
  /** In which part of the seeds each fault and each event must come about, from 0 to 1. */
  minShare: number;
}

/** Many runs, from a seed on. */
export interface ObjectSeries {
  seeds: number;
  events: number;
  /** How often each thing happened, and in how many seeds. */
  counts: Map<string, { times: number; seeds: number }>;
  checks: Map<string, number>;
  broken: Map<string, { seeds: number; first: string }>;
}

export async function runObjectSeries<Service>(
  { simulate }: Pick<Scenario<Service>, "simulate">,
  service: Service,
  from: number,
  seeds: number,
  onSeed: (seed: number, series: ObjectSeries) => void = () => {},
): Promise<ObjectSeries> {
  const series: ObjectSeries = { seeds, events: 0, counts: new Map(), checks: new Map(), broken: new Map() };
  for (let seed = from; seed < from + seeds; seed++) {
    const { events, counts, checks, violation } = await simulate(service, seed);
    series.events += events;
    for (const [name, times] of counts) {
      const before = series.counts.get(name) ?? { times: 0, seeds: 0 };
      series.counts.set(name, { times: before.times + times, seeds: before.seeds + 1 });
    }
    for (const [name, times] of checks) series.checks.set(name, (series.checks.get(name) ?? 0) + times);
    if (violation) {
      const { invariant, text } = violation;
      const before = series.broken.get(invariant) ?? { seeds: 0, first: `seed ${seed}: ${text}` };
      series.broken.set(invariant, { ...before, seeds: before.seeds + 1 });
    }
    onSeed(seed, series);
  }
  return series;
}

/** The faults, events and checks that came about too rarely. */
export function missingIn<Service>(
  { faults, events, invariants, minShare }: Scenario<Service>,
  { counts, checks, seeds }: ObjectSeries,
): string[] {
  const least = Math.max(1, seeds * minShare);
  return [
    ...[...faults, ...events].filter((name) => (counts.get(name)?.seeds ?? 0) < least),
    ...Object.keys(invariants).filter((name) => !checks.has(name)),
  ];
}

/** The first seed in which a wrong version breaks what must hold; null if none does. */
export async function saboteurCaught<Service>(
  { load, simulate, saboteurSeeds }: Scenario<Service>,
  wrong: Replacement,
): Promise<{ seed: number; invariant: string } | null> {
  const service = await load([wrong]);
  for (let seed = 0; seed < saboteurSeeds; seed++) {
    const { violation } = await simulate(service, seed);
    if (violation) return { seed, invariant: violation.invariant };
  }
  return null;
}

const PROGRESS_EVERY_MS = 60_000;

/**
 * `npm run test:long -- simulate` of a scenario.
 * @param print takes what is to be shown
 * @returns whether everything held
 */
export async function runScenario<Service>(
  scenario: Scenario<Service>,
  from: number,
  seeds: number,
  print: (text: string) => void,
): Promise<boolean> {
  const { invariants, saboteurs } = scenario;
  const begun = performance.now();
  let shownAt = begun;
  const series = await runObjectSeries(scenario, await scenario.load(), from, seeds, (seed, { broken }) => {
    if (performance.now() - shownAt < PROGRESS_EVERY_MS) return;
    shownAt = performance.now();
    const failed = [...broken.values()].map(({ first }) => first);
    print(
      `${figure(seed + 1 - from)} seeds; --from ${seed + 1} goes on${failed.map((text) => `\n${text}`).join("")}\n`,
    );
  });
  const seconds = (performance.now() - begun) / 1_000;
  const lines = Object.entries(invariants).map(([name, text]) => {
    const broken = series.broken.get(name);
    const checks = figure(series.checks.get(name) ?? 0);
    const failed = broken ? `, broken in ${figure(broken.seeds)} seeds, first in ${broken.first}` : "";
    return `${text}: ${checks} checks${failed}`;
  });
  const counts = [...series.counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const share = (count: number) => `${((100 * count) / seeds).toFixed(1)}%`;
  const often = counts.map(([name, each]) => `${name} ${figure(each.times)} (${share(each.seeds)})`);
  lines.push("", `How often, and in how many of the seeds: ${often.join(", ")}`);
  lines.push("", `${figure(seeds)} seeds from ${from}, ${figure(series.events)} events, ${figure(seconds)} s`, "", "");
  print(lines.join("\n"));
  let missed = 0;
  for (const [name, wrong] of Object.entries(saboteurs)) {
    const found = await saboteurCaught(scenario, wrong);
    print(`${found ? `caught in seed ${found.seed} (${found.invariant})` : "NOT CAUGHT"}: ${name}\n`);
    if (!found) missed++;
  }
  const missing = missingIn(scenario, series);
  if (missing.length > 0) print(`\nToo rare in these seeds: ${missing.join(", ")}\n`);
  const holds = series.broken.size === 0 && missed === 0 && missing.length === 0;
  print(`\n${holds ? "Everything held." : "Not everything held, or not everything was checked."}\n`);
  return holds;
}

function figure(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** What happens in one seed, line by line. */
export async function traceScenario<Service>(scenario: Scenario<Service>, seed: number): Promise<string> {
  const { trace, violation } = await scenario.simulate(await scenario.load(), seed, true);
  return [...trace, violation ? `${violation.invariant}: ${violation.text}` : "all held", ""].join("\n");
}
