import { parseArgs } from "node:util";
import { CommandError } from "../command-error.ts";
import { stageOf } from "./stage.ts";

export interface DeployArguments {
  help: boolean;
  dryRun: boolean;
  withoutFiles: boolean;
  /** Ends with the smoke test, also if there is an organization. */
  smoke: boolean;
  /** The name of a second environment, or null. */
  stage: string | null;
  /** All other arguments, passed to `wrangler deploy` unchanged. */
  others: string[];
}

export const DEPLOY_USAGE = `Usage: npm run deploy -- [options of wrangler deploy]

Deploys Parley to Cloudflare: the buckets for files, the database, its migrations, the secrets and the Worker. Keeps
what exists, so you can repeat it at any time.

  --dry-run        Shows what it would do and changes nothing. Without a login, it shows what an account can lack.
  --without-files  Deploys without the buckets, for an account without R2. Uploads then get 503; all else works.
  --stage <name>   Deploys a second environment: the Worker parley-<name> with a database, buckets and secrets of its own.
  --smoke          Runs parley doctor --smoke at the end, as a deploy does until there is an organization.
`;

// These options select another account, Worker or file than `npm run deploy` prepares.
const REFUSED = [
  "config",
  "cwd",
  "dispatch-namespace",
  "env",
  "env-file",
  "name",
  "profile",
  "secrets-file",
  "temporary",
];

const options = {
  help: { type: "boolean", short: "h" },
  "dry-run": { type: "boolean" },
  "without-files": { type: "boolean" },
  smoke: { type: "boolean" },
  stage: { type: "string" },
  config: { type: "string", short: "c" },
  env: { type: "string", short: "e" },
} as const;

/** Parses the arguments after `npm run deploy --`. @throws CommandError with exit code 2 */
export function readDeployArguments(argv: string[]): DeployArguments {
  const { tokens } = parseArgs({ args: argv, options, strict: false, allowPositionals: true, tokens: true });
  const read: DeployArguments = {
    help: false,
    dryRun: false,
    withoutFiles: false,
    smoke: false,
    stage: null,
    others: [],
  };
  for (const [index, token] of tokens.entries()) {
    // wrangler also accepts --dryRun.
    const name = token.kind === "option" ? token.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : "";
    if (token.kind === "option" && REFUSED.includes(name)) {
      throw new CommandError(
        `npm run deploy doesn't support ${token.rawName}, because it always uses wrangler.toml. ` +
          `Run npx wrangler deploy instead.${/^(?:env|name)$/.test(name) ? " For a second environment, use --stage <name>." : ""}`,
        2,
      );
    }
    if (name === "help") read.help = true;
    else if (name === "dry-run") read.dryRun = true;
    else if (name === "without-files") read.withoutFiles = true;
    else if (name === "smoke") read.smoke = true;
    else if (name === "stage" && token.kind === "option") read.stage = stageOf(token.value ?? "");
    else read.others.push(...argv.slice(token.index, tokens[index + 1]?.index));
  }
  return read;
}
