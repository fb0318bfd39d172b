import { fileURLToPath } from "node:url";
import { CommandError } from "../command-error.ts";
import { findCommand, readGiven, refuseSecrets } from "./arguments.ts";
import type { Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { findConnection } from "./connection.ts";
import { helpOf, overview } from "./help.ts";
import { Output } from "./output.ts";
import { Service } from "./service.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

// Whoever reads our output may have enough of it: `parley … | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

// Not `process.exit`: it would cut off what a slow reader has not taken yet.
process.exitCode = await main(process.argv.slice(2)).catch(exitCodeOf);

/** `parley`. Gives the code to exit with. */
async function main(argv: string[]): Promise<number> {
  refuseSecrets(argv);
  const found = findCommand(COMMANDS, argv);
  if (!found) return withoutCommand(argv);
  const given = readGiven(found.command, found.rest);
  if (given.options.help) {
    process.stdout.write(helpOf(found.command));
    return 0;
  }
  const out = output(Boolean(given.options.json));
  const connection = await findConnection(root, process.env, given.options.profile as string | undefined);
  const { operands, options } = given;
  // Their names and types are those of the command that asked for them.
  const call = { operands, options, service: new Service(connection), out } as Parameters<Command["run"]>[0];
  return (await found.command.run(call)) ?? 0;
}

/** Help that was asked for is data; help because no command was named is a mistake. */
function withoutCommand(argv: string[]): number {
  const asksHelp = argv.length === 0 || argv[0] === "help" || argv.includes("--help") || argv.includes("-h");
  const group = argv.find((word) => COMMANDS.some(({ name }) => name.startsWith(`${word} `)));
  if (asksHelp) process.stdout.write(overview(COMMANDS, group));
  else if (group) process.stderr.write(overview(COMMANDS, group));
  else output(false).complain("There is no such command: parley --help lists them.");
  return asksHelp ? 0 : 2;
}

function exitCodeOf(error: unknown): number {
  const isOurs = error instanceof CommandError;
  const text = isOurs ? error.message : ((error as Error).stack ?? String(error));
  output(false).complain(text);
  return isOurs ? error.exitCode : 1;
}

function output(json: boolean): Output {
  const { stdout, stderr, env } = process;
  return new Output({ json, stdout, stderr, noColor: Boolean(env.NO_COLOR) });
}
