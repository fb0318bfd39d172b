import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Pace, Patience } from "../../../src/cli/parley/smoke/lab.ts";
import { type SmokeCheck, type SmokeOptions, smoke } from "../../../src/cli/parley/smoke/smoke.ts";

/** A run that waits for nothing longer than it must. */
const PACE: Pace = {
  // A visitor may write once a second, by a clock that may be set back by a second meanwhile.
  silence: 2_200,
  ahead: 1_000,
  patience: { due: 60_000, frame: 60_000, event: 60_000 },
  rollout: 0,
  beat: 30,
};

/** A configuration folder of its own, and the marks of runs in it. */
export async function newSmokeHome() {
  const home = await mkdtemp(join(tmpdir(), "parley-smoke-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const folder = join(home, "parley", "smoke");
  const marks = () => readdir(folder).catch(() => []);
  return { home, folder, env: { XDG_CONFIG_HOME: home }, marks };
}

/** Runs the smoke test in this process. */
export async function runSmoke(
  options: Pick<SmokeOptions, "url" | "env"> &
    Partial<Omit<SmokeOptions, "pace">> & { adminToken: string; patience?: Partial<Patience> },
) {
  const { adminToken, patience, ...rest } = options;
  const checks: SmokeCheck[] = [];
  const isGood = await smoke({
    token: { value: adminToken, from: "the test" },
    webhook: null,
    plain: null,
    build: null,
    signal: new AbortController().signal,
    onCheck: (check) => checks.push(check),
    ...rest,
    pace: { ...PACE, patience: { ...PACE.patience, ...patience } },
  });
  const named = (state: SmokeCheck["state"]) => checks.filter((check) => check.state === state);
  return { isGood, checks, ok: named("ok").map(({ what }) => what), failed: named("fails"), unknown: named("unknown") };
}

/** The temporary organizations of a service. */
export async function temporaryAt(url: string | URL, adminToken: string): Promise<{ id: string; name: string }[]> {
  const headers = { Authorization: `Bearer ${adminToken}` };
  const response = await fetch(new URL("/admin/v1/organizations?temporary=true&limit=100", url), { headers });
  return ((await response.json()) as { organizations: { id: string; name: string }[] }).organizations;
}
