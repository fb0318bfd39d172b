import { COMMON_OPTIONS } from "./arguments.ts";
import type { Command, Option } from "./command.ts";
import { aligned } from "./table.ts";

const FOOT = `The service's address and secrets are read from PARLEY_URL, PARLEY_ADMIN_TOKEN and PARLEY_API_KEY, then from the
profile that parley login saved. Without either, parley uses the service that npm start runs on this machine. If the
service has another port than 8787, set PARLEY_URL.
Exit codes: 0 success, 1 error or service not reachable, 2 wrong arguments.
`;

/** The help: a line for each command, or for each command of one group. */
export function overview(commands: Command[], group?: string): string {
  const listed = commands.filter(({ name }) => group === undefined || name.split(" ")[0] === group);
  const lines = aligned(listed.map((command) => [`  ${usageOf(command)}`, command.about]));
  return `Usage: parley <command> [options]\n\n${lines.join("\n")}\n\nRun \`parley <command> --help\` for details, and \`parley --version\` for the version.\n\n${FOOT}`;
}

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
  const may = option.multiple ? "; can be repeated" : "";
  return [`  --${name}${value}`, `${option.about}${may}`];
}
