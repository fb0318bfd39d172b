import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { CommandError } from "../command-error.ts";

export type StartArguments = {
  help: boolean;
  verbose: boolean;
  /** 0 for any free port. */
  port: number;
  ip: string;
  /** The absolute path of `--persist-to`, or null for the default folder. */
  persistTo: string | null;
  /** The values of `--var`, which replace those in `.dev.vars`. */
  vars: Record<string, string>;
  /** All other arguments, passed to `wrangler dev` unchanged. */
  others: string[];
};

export const START_USAGE = `Usage: npm start -- [options of wrangler dev]

Starts Parley on this machine. Creates the secrets, the database and a demo organization if they don't exist yet.

  --port <number>     Port of the server, 0 for any free port. Default: 8787.
  --ip <address>      Address to listen on. Default: localhost.
  --persist-to <dir>  Folder of the data. Default: .wrangler/state.
  --var NAME:value    A variable that replaces its value in .dev.vars. Can be repeated.
  --verbose           Shows each step and the server's log.
`;

// These options select other secrets, another Worker or another protocol than `npm start` prepares.
const REFUSED = ["config", "cwd", "env", "env-file", "local-protocol", "remote"];

const options = {
  help: { type: "boolean", short: "h" },
  verbose: { type: "boolean" },
  port: { type: "string" },
  ip: { type: "string" },
  "persist-to": { type: "string" },
  var: { type: "string", multiple: true },
  config: { type: "string", short: "c" },
  env: { type: "string", short: "e" },
  remote: { type: "boolean", short: "r" },
} as const;

/** Parses the arguments after `npm start --`. @throws CommandError with exit code 2 */
export function readStartArguments(argv: string[], cwd: string): StartArguments {
  const { tokens } = parseArgs({ args: argv, options, strict: false, allowPositionals: true, tokens: true });
  const read: StartArguments = {
    help: false,
    verbose: false,
    port: 8787,
    ip: "localhost",
    persistTo: null,
    vars: {},
    others: [],
  };
  let inVars = false;
  for (const [index, token] of tokens.entries()) {
    // wrangler accepts several values after one --var.
    if (token.kind === "positional" && inVars) {
      addVar(read.vars, token.value);
      continue;
    }
    inVars = token.kind === "option" && token.name === "var";
    if (token.kind !== "option") {
      read.others.push(...argv.slice(token.index, tokens[index + 1]?.index));
      continue;
    }
    if (REFUSED.includes(token.name)) {
      throw new CommandError(
        `npm start doesn't support ${token.rawName}, because it always uses wrangler.toml and .dev.vars. ` +
          "Run npx wrangler dev instead.",
        2,
      );
    }
    if (token.name === "help") read.help = true;
    else if (token.name === "verbose") read.verbose = true;
    else if (token.name === "port") read.port = portOf(valueAfter(token));
    else if (token.name === "ip") read.ip = valueAfter(token);
    else if (token.name === "persist-to") read.persistTo = resolve(cwd, valueAfter(token));
    else if (token.name === "var") addVar(read.vars, valueAfter(token));
    else read.others.push(...argv.slice(token.index, tokens[index + 1]?.index));
  }
  return read;
}

function valueAfter(token: { rawName: string; value?: string | undefined }): string {
  // Without `strict`, parseArgs uses the next option as the value.
  if (!token.value || token.value.startsWith("--")) throw new CommandError(`${token.rawName} needs a value.`, 2);
  return token.value;
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new CommandError(`--port must be a number from 0 to 65535, not ${JSON.stringify(text)}.`, 2);
  }
  return Number(text);
}

function addVar(vars: Record<string, string>, text: string): void {
  const [, name, value] = /^([A-Za-z_]\w*):(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    // wrangler would accept NAME=value as a variable name. The text may be a secret, so the error doesn't repeat it.
    throw new CommandError("--var must have the form NAME:value, with a colon.", 2);
  }
  vars[name] = value;
}
