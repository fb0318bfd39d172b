import { figure } from "../series.ts";
import { loadService } from "./bundle.ts";
import { ORGANIZATION_INVARIANTS, type OrganizationInvariant } from "./rules.ts";
import { ORGANIZATION_SABOTEURS } from "./saboteurs.ts";
import { missingIn, organizationSaboteurCaught, runOrganizationSeries } from "./series.ts";
import { simulateOrganization } from "./simulate.ts";

/** `npm run test:simulate -- --organization`. @returns the lines to print, and whether everything held */
export async function runOrganization(from: number, seeds: number): Promise<{ text: string; holds: boolean }> {
  const begun = performance.now();
  const series = await runOrganizationSeries(await loadService(), from, seeds);
  const seconds = (performance.now() - begun) / 1_000;
  const lines = (Object.keys(ORGANIZATION_INVARIANTS) as OrganizationInvariant[]).map((name) => {
    const broken = series.broken.get(name);
    const checks = figure(series.checks.get(name) ?? 0);
    const failed = broken ? `, broken in ${figure(broken.seeds)} seeds, first in ${broken.first}` : "";
    return `${ORGANIZATION_INVARIANTS[name]}: ${checks} checks${failed}`;
  });
  const counts = [...series.counts].sort(([a], [b]) => (a < b ? -1 : 1));
  lines.push("", `How often: ${counts.map(([name, times]) => `${name} ${figure(times)}`).join(", ")}`);
  lines.push("", `${figure(seeds)} seeds from ${from}, ${figure(series.events)} events, ${figure(seconds)} s`, "");
  let missed = 0;
  for (const [name, wrong] of Object.entries(ORGANIZATION_SABOTEURS)) {
    const found = await organizationSaboteurCaught(wrong);
    lines.push(`${found ? `caught in seed ${found.seed} (${found.invariant})` : "NOT CAUGHT"}: ${name}`);
    if (!found) missed++;
  }
  const missing = missingIn(series);
  if (missing.length > 0) lines.push("", `Did not happen in these seeds: ${missing.join(", ")}`);
  const holds = series.broken.size === 0 && missed === 0 && missing.length === 0;
  lines.push("", holds ? "Everything held." : "Not everything held, or not everything was checked.", "");
  return { text: lines.join("\n"), holds };
}

/** What happens in one seed, line by line. */
export async function traceOrganization(seed: number): Promise<string> {
  const { trace, violation } = await simulateOrganization(await loadService(), seed, true);
  return [...trace, violation ? `${violation.invariant}: ${violation.text}` : "all held", ""].join("\n");
}
