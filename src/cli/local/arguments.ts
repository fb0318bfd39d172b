import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { CommandError } from "../command-error.ts";

export type StartArguments = {
  help: boolean;
  /** 0 asks for any free one. */
  port: number;
  ip: string;
  /** The folder of `--persist-to`, absolute; null for wrangler's own. */
  persistTo: string | null;
  /** The values of `--var`, which win over `.dev.vars`. */
  vars: Record<string, string>;
  /** Everything else, for `wrangler dev` as it was given. */
  others: string[];
};

export const USAGE = `Usage: npm start -- [options of wrangler dev]

Starts Parley on this machine: secrets, database, a demo organization, the server.

  --port <number>     where to listen (8787; 0 for any free port)
  --ip <address>      which address to listen on (localhost)
  --persist-to <dir>  where the data is kept (.wrangler/state)
  --var NAME:value    a variable, which wins over .dev.vars; may be repeated
`;

// They choose other secrets, another Worker or another network than those that the steps of `npm start` prepare.
const REFUSED = ["config", "cwd", "env", "env-file", "local-protocol", "remote"];

const options = {
  help: { type: "boolean", short: "h" },
  port: { type: "string" },
  ip: { type: "string" },
  "persist-to": { type: "string" },
  var: { type: "string", multiple: true },
  config: { type: "string", short: "c" },
  env: { type: "string", short: "e" },
  remote: { type: "boolean", short: "r" },
} as const;

/**
 * Reads what stands after `npm start --`.
 * @throws CommandError with exit code 2
 */
export function readArguments(argv: string[], cwd: string): StartArguments {
  const { tokens } = parseArgs({ args: argv, options, strict: false, allowPositionals: true, tokens: true });
  const read: StartArguments = { help: false, port: 8787, ip: "localhost", persistTo: null, vars: {}, others: [] };
  let inVars = false;
  for (const [index, token] of tokens.entries()) {
    // wrangler takes several values after one --var.
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
        `npm start can't take ${token.rawName}: it runs wrangler.toml and .dev.vars as they stand; ` +
          "for anything else call npx wrangler dev.",
        2,
      );
    }
    if (token.name === "help") read.help = true;
    else if (token.name === "port") read.port = portOf(valueAfter(token));
    else if (token.name === "ip") read.ip = valueAfter(token);
    else if (token.name === "persist-to") read.persistTo = resolve(cwd, valueAfter(token));
    else if (token.name === "var") addVar(read.vars, valueAfter(token));
    else read.others.push(...argv.slice(token.index, tokens[index + 1]?.index));
  }
  return read;
}

function valueAfter(token: { rawName: string; value?: string | undefined }): string {
  // Without `strict`, parseArgs takes the next option for the value.
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
    // wrangler would take NAME=value for a variable with a strange name; the text may be a secret, so it isn't shown.
    throw new CommandError("--var must be NAME:value, with a colon.", 2);
  }
  vars[name] = value;
}
