import { parseArgs } from "node:util";
import { CommandError } from "../command-error.ts";
import { type Command, flag, option } from "./command.ts";
import { VARIABLE_OF_SECRET } from "./credentials.ts";
import { nearest } from "./nearest.ts";

/** The options of every command. */
export const COMMON_OPTIONS = {
  json: flag("Print the service's answer as JSON"),
  profile: option("name", "Use a profile saved by parley login instead of the environment"),
  help: { type: "boolean", short: "h", about: "Show this help" },
} as const;

/** Secrets can't be options, because other users see a process's arguments and the shell stores them. */
const SECRET_FLAGS: Record<string, string> = {
  token: "PARLEY_ADMIN_TOKEN",
  "admin-token": "PARLEY_ADMIN_TOKEN",
  "api-key": "PARLEY_API_KEY",
  key: "PARLEY_API_KEY",
  secret: "PARLEY_API_KEY",
  password: "PARLEY_ADMIN_TOKEN",
  ...VARIABLE_OF_SECRET,
};

const ID_PREFIXES: Record<string, string> = {
  organization: "org",
  member: "mbr",
  channel: "chn",
  template: "tpl",
  chat: "cht",
  message: "msg",
  key: "key",
  webhook: "whk",
  event: "evt",
  replay: "rpl",
  reply: "rpl",
  label: "lbl",
};

/** Matches an API key anywhere in an argument. */
const KEY_TEXT = /ply_[0-9A-Za-z]{20,}/;

export interface ParsedArguments {
  command: Command;
  operands: Record<string, string | undefined>;
  options: Record<string, string | boolean | (string | boolean)[] | undefined>;
}

/** Refuses secrets in the arguments, without repeating them. @throws CommandError with exit code 2 */
export function refuseSecrets(argv: string[]): void {
  const end = argv.indexOf("--");
  for (const argument of end === -1 ? argv : argv.slice(0, end)) {
    const [, flag = ""] = /^--?([a-z-]+)/i.exec(argument) ?? [];
    const place = SECRET_FLAGS[flag.toLowerCase()];
    if (place) {
      throw new CommandError(
        `--${flag.toLowerCase()} is not supported, because other users of this machine can read arguments and the shell ` +
          `stores them in its history. Set the environment variable ${place}, or run parley login.`,
        2,
      );
    }
  }
  if (argv.some((argument) => KEY_TEXT.test(argument))) {
    throw new CommandError(
      "An API key can't be an argument, because other users of this machine can read arguments and the shell stores " +
        "them in its history. Set the environment variable PARLEY_API_KEY, or run parley login.",
      2,
    );
  }
}

/** Finds the command that the arguments begin with. The longest name wins. @returns null if there is none */
export function findCommand(commands: Command[], argv: string[]): { command: Command; rest: string[] } | null {
  const words = argv.findIndex((argument) => argument.startsWith("-"));
  const leading = words === -1 ? argv : argv.slice(0, words);
  for (const length of [2, 1]) {
    const name = leading.slice(0, length).join(" ");
    const command = leading.length >= length && commands.find((known) => known.name === name);
    if (command) return { command, rest: argv.slice(length) };
  }
  return null;
}

/**
 * Parses the arguments after a command's name.
 * @throws CommandError with exit code 2. It repeats no value, because the value may be a secret
 */
export function parseArguments(command: Command, rest: string[]): ParsedArguments {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(([name, option]) => [
      name,
      { type: option.type, multiple: "multiple" in option, ...("short" in option && { short: option.short }) },
    ]),
  );
  const { values, positionals } = parse(command, rest, options);
  if (values.help) return { command, operands: {}, options: values };
  const needed = command.operands.filter((name) => !name.startsWith("["));
  const usage = `Run \`parley ${command.name} --help\` for details.`;
  if (positionals.length < needed.length) {
    throw new CommandError(
      `parley ${command.name} needs ${needed.slice(positionals.length).join(" and ")}. ${usage}`,
      2,
    );
  }
  if (positionals.length > command.operands.length) {
    const most = command.operands.length === 0 ? "only options" : `only ${command.operands.join(" and ")}`;
    const quotes = command.operands.some((name) => /\btext\b/.test(name))
      ? " Put a text of several words in quotes."
      : "";
    throw new CommandError(`parley ${command.name} takes ${most}.${quotes} ${usage}`, 2);
  }
  const operands: ParsedArguments["operands"] = {};
  for (const [index, name] of command.operands.entries()) {
    const bare = name.replace(/^\[(.*)\]$/, "$1");
    operands[bare] = positionals[index];
    checkId(bare, positionals[index]);
  }
  for (const [name, option] of Object.entries(command.options)) {
    if (option.required && !values[name]) throw new CommandError(`parley ${command.name} needs --${name}. ${usage}`, 2);
    if (typeof values[name] === "string" && option.value?.endsWith("_…")) checkId(name, values[name]);
  }
  return { command, operands, options: values };
}

/** Parses the whole number of an option. @throws CommandError with exit code 2 */
export function wholeNumber(text: string, flag: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CommandError(`--${flag} must be a whole number.`, 2);
}

/** Parses the `name=value` pairs of an option that can be repeated. @throws CommandError with exit code 2 */
export function pairs(name: string, texts: string[] | undefined): Record<string, string> | undefined {
  return (
    texts &&
    Object.fromEntries(
      texts.map((text) => {
        const at = text.indexOf("=");
        if (at < 1) throw new CommandError(`--${name} must have the form name=value.`, 2);
        return [text.slice(0, at), text.slice(at + 1)];
      }),
    )
  );
}

function parse(
  command: Command,
  args: string[],
  options: Record<string, { type: Command["options"][string]["type"]; multiple: boolean }>,
) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("ERR_PARSE_ARGS_")) throw error;
    throw new CommandError(`${usageError(message, options)} Run \`parley ${command.name} --help\` for details.`, 2);
  }
}

/** Node's message in plain words, with the option that was probably meant. It repeats option names only. */
function usageError(message: string, options: object): string {
  const [, unknown] = /^Unknown option '(-[^\s'=]+)/.exec(message) ?? [];
  if (unknown === undefined) {
    const [, flag] = /'(?:-\w, )?(--[\w-]+)/.exec(message) ?? [];
    return flag && /argument (missing|is ambiguous)/.test(message)
      ? `${flag} needs a value.`
      : `${message.split(/\. |\n/)[0]}.`;
  }
  const meant = nearest(
    unknown,
    Object.keys(options).map((name) => `--${name}`),
  );
  return `There is no option ${unknown}.${meant ? ` Did you mean ${meant}?` : ""}`;
}

/** Checks an id before it becomes part of a path. */
function checkId(name: string, value: string | undefined): void {
  const prefix = ID_PREFIXES[name];
  if (value === undefined || prefix === undefined) return;
  if (!new RegExp(`^${prefix}_\\w{1,60}$`).test(value)) {
    throw new CommandError(
      `The id of ${name === "organization" ? "an" : "a"} ${name} starts with ${prefix}_, followed by letters and digits.`,
      2,
    );
  }
}
