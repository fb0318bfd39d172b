import { readFile } from "node:fs/promises";
import { CommandError } from "../../command-error.ts";
import { demoPath, readDemo } from "../../demo-file.ts";
import { bad, type Check } from "../check.ts";
import { command, flag, option } from "../command.ts";
import { defaultState } from "../connection.ts";
import { channelChecks } from "../doctor/channel-checks.ts";
import { localChecks, migrationsCheck } from "../doctor/local-checks.ts";
import { serviceChecks } from "../doctor/service-checks.ts";
import type { Output } from "../output.ts";
import { type Service, ServiceFault, Unreachable } from "../service.ts";
import { type SmokeCheck, smoke } from "../smoke/smoke.ts";
import { SIGNS, smokeLine } from "../smoke/smoke-line.ts";

/** Finds faults in the configuration. */
export const doctorCommands = [
  command({
    name: "doctor",
    about: "Check configuration, database, secrets, channels and webhooks, and say what to do",
    details: `Prints one line for each check: ✓ good, ! works but should be changed, ✗ wrong, · can't be checked. Changes nothing, and
exits with 1 if something is wrong. The service asks each channel's network whether the credentials work and where the
webhook points. The demo of npm start has examples that don't work: they are warnings.

With --smoke it tries the service instead, at its address: files, alarms, sockets, streams, limits and deletion, in
temporary organizations that it deletes, also when it is interrupted. It needs the operator's token and about a minute,
and prints each step with its time.`,
    options: {
      organization: option("org_…", "Only this organization's channels"),
      state: option("folder", "The data folder of npm start; .wrangler/state by default"),
      smoke: flag("Try what the platform gives the service, in temporary organizations"),
      webhook: option("url", "With --smoke: a receiver that answers 2xx, to try an outgoing call"),
    },
    async run({ options, service, out }) {
      if (options.webhook !== undefined && !/^https?:$/.test(URL.parse(options.webhook)?.protocol ?? "")) {
        throw new CommandError("--webhook must be a URL that begins with https://.", 2);
      }
      if (options.smoke) return (await trySmoke(service, options.webhook ?? null, out)) ? 0 : 1;
      if (options.webhook !== undefined) throw new CommandError("--webhook needs --smoke.", 2);
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

/** Runs the smoke test. Ctrl-C ends it after the clean-up; a second one ends it at once. */
async function trySmoke({ connection }: Service, webhook: string | null, out: Output): Promise<boolean> {
  const { url, adminToken, isHere } = connection;
  if (!adminToken) {
    throw new CommandError(
      `The smoke test needs the operator's token for ${url}. Set PARLEY_ADMIN_TOKEN, or run parley login.`,
      2,
    );
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  const checks: SmokeCheck[] = [];
  try {
    const isGood = await smoke({
      url,
      token: adminToken,
      webhook,
      plain: isHere ? null : url.replace(/^https:/, "http:"),
      build: null,
      signal: stop.signal,
      env: process.env,
      onCheck(check) {
        checks.push(check);
        if (!out.json) out.line(smokeLine(check, (color, text) => out.paint(color, text)));
      },
    });
    if (out.json) out.document({ ok: isGood, checks });
    return isGood;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    throw new CommandError("Interrupted. What the smoke test made is deleted, unless a line above says otherwise.");
  }
}

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
