import { readFile } from "node:fs/promises";
import { demoPath, readDemo } from "../../demo-file.ts";
import { command, option } from "../command.ts";
import { defaultState } from "../connection.ts";
import { channelChecks } from "../doctor/channel-checks.ts";
import { bad, type Check, type State } from "../doctor/check.ts";
import { localChecks, migrationsCheck } from "../doctor/local-checks.ts";
import { serviceChecks } from "../doctor/service-checks.ts";
import type { Output } from "../output.ts";
import { ServiceFault, Unreachable } from "../service.ts";

const SIGNS = {
  ok: ["✓", "green"],
  warns: ["!", "yellow"],
  fails: ["✗", "red"],
  unknown: ["·", "dim"],
} as const satisfies Record<State, readonly [string, string]>;

/** Finds faults in the configuration. */
export const doctorCommands = [
  command({
    name: "doctor",
    about: "Check configuration, database, secrets, channels and webhooks, and say what to do",
    details: `Prints one line for each check: ✓ good, ! works but should be changed, ✗ wrong, · can't be checked. Changes nothing, and
exits with 1 if something is wrong. The service asks each channel's network whether the credentials work and where the
webhook points. The demo of npm start has examples that don't work: they are warnings.`,
    options: {
      organization: option("org_…", "Only this organization's channels"),
      state: option("folder", "The data folder of npm start; .wrangler/state by default"),
    },
    async run({ options, service, out }) {
      const { isHere, root } = service.connection;
      const checks: Check[] = [];
      let demo: string | null = null;
      if (root !== null) checks.push(...(await localChecks(root, isHere)));
      if (root !== null && isHere) {
        const state = options.state ?? defaultState(root);
        checks.push(await migrationsCheck(root, state));
        demo = await demoOrganization(state);
      }
      checks.push(...(await serviceChecks(service)));
      const isIn = checks.some(({ what, state }) => what === "operator's token" && state === "ok");
      if (isIn) {
        try {
          checks.push(...(await channelChecks(service, options.organization, demo)));
        } catch (error) {
          if (!(error instanceof ServiceFault || error instanceof Unreachable)) throw error;
          checks.push(bad("channels", "unknown", error.message, "see the lines above"));
        }
      }
      show(checks, out);
      return checks.some(({ state }) => state === "fails") ? 1 : 0;
    },
  }),
];

/** The id of the demo's organization; null if there is none. */
async function demoOrganization(state: string): Promise<string | null> {
  return readDemo(await readFile(demoPath(state), "utf8").catch(() => ""))?.organizationId ?? null;
}

function show(checks: Check[], out: Output): void {
  if (out.json) out.document({ ok: checks.every(({ state }) => state !== "fails"), checks });
  else for (const check of checks) out.line(lineOf(check, out));
}

function lineOf({ what, state, found, advice }: Check, out: Output): string {
  const [sign, color] = SIGNS[state];
  const end = /[.!?]$/.test(found) ? "" : ".";
  return `${out.paint(color, sign)} ${what}: ${found}${advice === null ? "" : `${end} To do: ${advice}`}`;
}
