import { command } from "../command.ts";
import { stateOf } from "../connection.ts";
import { channelChecks } from "../doctor/channel-checks.ts";
import { bad, type Check, type State } from "../doctor/check.ts";
import { migrationsCheck } from "../doctor/database-checks.ts";
import { localChecks } from "../doctor/local-checks.ts";
import { serviceChecks } from "../doctor/service-checks.ts";
import type { Output } from "../output.ts";
import { ServiceFault, Unreachable } from "../service.ts";

const SIGNS = {
  ok: ["✓", "green"],
  warns: ["!", "yellow"],
  fails: ["✗", "red"],
  unknown: ["·", "dim"],
} as const satisfies Record<State, readonly [string, string]>;

/** Looks at what may be wrong. */
export const doctorCommands = [
  command({
    name: "doctor",
    about: "Checks configuration, database, secrets, channels and webhooks, and says what to do",
    details: `One line a check: ✓ good, ! works but should be changed, ✗ wrong, · can't be told from here. It ends with 1 when one is
wrong, and changes nothing. With a channel's own secrets in PARLEY_BOT_TOKEN, or in PARLEY_ACCESS_TOKEN and
PARLEY_PHONE_NUMBER_ID, its network is asked whether the token works and where the webhook points.`,
    options: {
      organization: { type: "string", value: "org_…", about: "the channels of this organization alone" },
      state: {
        type: "string",
        value: "folder",
        about: "where npm start keeps its data, if not where it does by itself",
      },
    },
    async run({ options, service, out }) {
      const { isHere, root } = service.connection;
      const checks = await localChecks(root, isHere);
      if (isHere) checks.push(await migrationsCheck(root, options.state ?? stateOf(root)));
      checks.push(...(await serviceChecks(service)));
      const isIn = checks.some(({ what, state }) => what === "operator's token" && state === "ok");
      if (isIn) {
        try {
          checks.push(...(await channelChecks(service, process.env, options.organization)));
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

function show(checks: Check[], out: Output): void {
  if (out.json) out.document({ ok: checks.every(({ state }) => state !== "fails"), checks });
  else for (const check of checks) out.line(lineOf(check, out));
}

function lineOf({ what, state, found, advice }: Check, out: Output): string {
  const [sign, colour] = SIGNS[state];
  const end = /[.!?]$/.test(found) ? "" : ".";
  return `${out.paint(colour, sign)} ${what}: ${found}${advice === null ? "" : `${end} To do: ${advice}`}`;
}
