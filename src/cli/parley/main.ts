import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError } from "../command-error.ts";
import { findCommand, parseArguments, refuseSecrets } from "./arguments.ts";
import type { Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { findConnection } from "./connection.ts";
import { helpOf, overview } from "./help.ts";
import { nearestCommand } from "./nearest.ts";
import { Output } from "./output.ts";
import { Service } from "./service.ts";

/** The checkout, or the package. */
const root = fileURLToPath(new URL("../../..", import.meta.url));

// The reader of the output may close it early: `parley … | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

// Not `process.exit`, which would cut off the output for a slow reader.
process.exitCode = await main(process.argv.slice(2)).catch(exitCodeOf);

/** `parley`. Returns the exit code. */
async function main(argv: string[]): Promise<number> {
  refuseSecrets(argv);
  const found = findCommand(COMMANDS, argv);
  if (!found) return withoutCommand(argv);
  const given = parseArguments(found.command, found.rest);
  if (given.options.help) {
    process.stdout.write(helpOf(found.command));
    return 0;
  }
  const out = output(Boolean(given.options.json));
  const checkout = existsSync(join(root, "wrangler.toml")) ? root : null;
  const connection = await findConnection(checkout, process.env, given.options.profile as string | undefined);
  const { operands } = given;
  // The rest is the command's own, which may send all of it as a query.
  const { json: _json, profile: _profile, help: _help, ...options } = given.options;
  // `parseArguments` checked them against the command.
  const service = new Service(connection, (text) => out.warning(text));
  const call = { operands, options, service, out } as Parameters<Command["run"]>[0];
  return (await found.command.run(call)) ?? 0;
}

/** Requested help goes to stdout. Without a command, or with an unknown one, it is an error. */
async function withoutCommand(argv: string[]): Promise<number> {
  if (argv[0] === "--version") {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const asksHelp = argv.length === 0 || argv[0] === "help" || argv.includes("--help") || argv.includes("-h");
  const group = argv.find((word) => COMMANDS.some(({ name }) => name.startsWith(`${word} `)));
  if (asksHelp) process.stdout.write(overview(COMMANDS, group));
  else if (group && argv.length === 1) process.stderr.write(overview(COMMANDS, group));
  else output(false).error(unknownCommand(argv));
  return asksHelp ? 0 : 2;
}

/** Doesn't repeat the user's words, because one may be a secret in the wrong place. */
function unknownCommand(argv: string[]): string {
  const options = argv.findIndex((argument) => argument.startsWith("-"));
  const meant = nearestCommand(
    COMMANDS.map(({ name }) => name),
    options === -1 ? argv : argv.slice(0, options),
  );
  return `There is no such command.${meant ? ` Did you mean parley ${meant}?` : ""} Run \`parley --help\` for a list.`;
}

function exitCodeOf(error: unknown): number {
  const isExpected = error instanceof CommandError;
  const text = isExpected ? error.message : ((error as Error).stack ?? String(error));
  output(false).error(text);
  return isExpected ? error.exitCode : 1;
}

function output(json: boolean): Output {
  const { stdout, stderr, env } = process;
  return new Output({ json, stdout, stderr, noColor: Boolean(env.NO_COLOR) });
}
