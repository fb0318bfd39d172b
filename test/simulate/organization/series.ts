import { loadService, type Replacement, type Service } from "./bundle.ts";
import { ORGANIZATION_FAULTS, ORGANIZATION_INVARIANTS, type OrganizationInvariant } from "./rules.ts";
import { simulateOrganization } from "./simulate.ts";

/** What must come about, or a series shows nothing. */
const EVENTS = [
  "chat created",
  "chat created again",
  "chat deleted",
  "channel deleted",
  "redaction answered",
  "redaction: not_reported",
  "open: deleting",
  "open: no_channel",
  "open: opened",
  "webhook: repeated",
  "webhook: stored",
  "DELETE organization: done",
] as const;

/** A wrong version must be found in this many seeds. */
const SABOTEUR_SEEDS = 2_000;

/** Many runs, from a seed on. */
export interface OrganizationSeries {
  seeds: number;
  events: number;
  /** How often each thing happened. */
  counts: Map<string, number>;
  checks: Map<OrganizationInvariant, number>;
  broken: Map<OrganizationInvariant, { seeds: number; first: string }>;
}

export async function runOrganizationSeries(
  service: Service,
  from: number,
  seeds: number,
): Promise<OrganizationSeries> {
  const series: OrganizationSeries = { seeds, events: 0, counts: new Map(), checks: new Map(), broken: new Map() };
  for (let seed = from; seed < from + seeds; seed++) {
    const { events, counts, checks, violation } = await simulateOrganization(service, seed);
    series.events += events;
    for (const [name, times] of counts) series.counts.set(name, (series.counts.get(name) ?? 0) + times);
    for (const [name, times] of checks) series.checks.set(name, (series.checks.get(name) ?? 0) + times);
    if (!violation) continue;
    const before = series.broken.get(violation.invariant) ?? { seeds: 0, first: `seed ${seed}: ${violation.text}` };
    series.broken.set(violation.invariant, { ...before, seeds: before.seeds + 1 });
  }
  return series;
}

/** The faults, events and checks that did not come about. */
export function missingIn({ counts, checks }: OrganizationSeries): string[] {
  const invariants = Object.keys(ORGANIZATION_INVARIANTS) as OrganizationInvariant[];
  return [
    ...[...ORGANIZATION_FAULTS, ...EVENTS].filter((name) => !counts.has(name)),
    ...invariants.filter((name) => !checks.has(name)),
  ];
}

/** The first seed in which a wrong version breaks what must hold; null if none does. */
export async function organizationSaboteurCaught(
  wrong: Replacement,
): Promise<{ seed: number; invariant: OrganizationInvariant } | null> {
  const service = await loadService([wrong]);
  for (let seed = 0; seed < SABOTEUR_SEEDS; seed++) {
    const { violation } = await simulateOrganization(service, seed);
    if (violation) return { seed, invariant: violation.invariant };
  }
  return null;
}
