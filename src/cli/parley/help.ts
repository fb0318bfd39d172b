import { COMMON_OPTIONS } from "./arguments.ts";
import type { Command, Option } from "./command.ts";
import { aligned } from "./table.ts";

const FOOT = `Where the service is and what it is shown: the environment variables PARLEY_URL, PARLEY_ADMIN_TOKEN and
PARLEY_API_KEY; else what parley login saved; else the service of npm start on this machine, which needs nothing set
but PARLEY_URL where it was given another port.
Exit codes: 0 done, 1 refused or not reachable, 2 a mistake in the command.
`;

/** What there is, a line a command; of one group where `group` is given. */
export function overview(commands: Command[], group?: string): string {
  const listed = commands.filter(({ name }) => group === undefined || name.split(" ")[0] === group);
  const lines = aligned(listed.map((command) => [`  ${usageOf(command)}`, command.about]));
  return `Usage: parley <command> [options]\n\n${lines.join("\n")}\n\n--help behind a command tells more.\n\n${FOOT}`;
}

/** All that there is to say of one command. */
export function helpOf(command: Command): string {
  const own = Object.entries(command.options).map(optionLine);
  const common = Object.entries(COMMON_OPTIONS).map(optionLine);
  const details = command.details ? `\n${command.details.trim()}\n` : "";
  return `Usage: parley ${usageOf(command)} [options]\n\n${command.about}.\n${details}\n${aligned([...own, ...common]).join("\n")}\n`;
}

function usageOf({ name, operands, options }: Command): string {
  const required = Object.entries(options).filter(([, option]) => option.required);
  const flags = required.map(([flag, option]) => `--${flag} <${option.value ?? "text"}>`);
  return [name, ...operands.map((operand) => (operand.startsWith("[") ? operand : `<${operand}>`)), ...flags].join(" ");
}

function optionLine([name, option]: [string, Option]): string[] {
  const value = option.type === "string" ? ` <${option.value ?? "text"}>` : "";
  const may = option.multiple ? "; may be repeated" : "";
  return [`  --${name}${value}`, `${option.about}${may}`];
}
