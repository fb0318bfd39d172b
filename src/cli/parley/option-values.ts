import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { PRESETS } from "../../model/permission.ts";
import { CommandError } from "../command-error.ts";
import { wholeNumber } from "./arguments.ts";

/** The text itself; for `-`, what standard input has. */
export async function textOf(given: string): Promise<string> {
  return given === "-" ? (await text(process.stdin)).replace(/\r?\n$/, "") : given;
}

/** A list; null, which restores the default, for `default` alone. */
export function listOrNull(texts: string[]): string[] | null {
  return texts.length === 1 && texts[0] === "default" ? null : texts;
}

/** The name of a preset, which stands alone, or a list of permissions. */
export function presetOrList(texts: string[]): string[] | string | null {
  const [only = "", ...others] = texts;
  return others.length === 0 && Object.hasOwn(PRESETS, only) ? only : listOrNull(texts);
}

/** `{}` turns the self-service on and leaves its ceilings; null turns it off. */
export function onOrOff(given: string): object | null {
  return switchOf(given, "self-service") ? {} : null;
}

/** Like `read`; null, which restores the default, for `default`. */
export function orNull<T>(read: (given: string, flag: string) => T): (given: string, flag: string) => T | null {
  return (given, flag) => (given === "default" ? null : read(given, flag));
}

/** The text itself; null, which restores the default, for `default`. */
export const orDefault = orNull((given) => given);

/** A setting that is a text; null, which restores the default, for `default`. */
export const textOrDefault = orNull((text) => ({ text }));

/** What a JSON file has, or standard input for `-`; null, which restores the default, for `default`. */
export const jsonFile = orNull(async (path, flag) => {
  const given = path === "-" ? await text(process.stdin) : await readFile(path, "utf8").catch(() => null);
  if (given === null) throw new CommandError(`--${flag}: ${path} can't be read.`, 2);
  try {
    return JSON.parse(given) as unknown;
  } catch {
    throw new CommandError(`--${flag}: ${path} is not JSON.`, 2);
  }
});

/** `on` or `off`. */
export function switchOf(given: string, flag: string): boolean {
  if (given === "on" || given === "off") return given === "on";
  throw new CommandError(`--${flag} must be on or off.`, 2);
}

/** Reads a bot's `key_…/120`, or its key alone. */
export function botOption(given: string): { keyId: string; handOverAfterSeconds?: number } {
  const [keyId = "", seconds, ...more] = given.split("/");
  if (more.length > 0) throw new CommandError("--bot must have the form key/seconds, for example key_…/120.", 2);
  return { keyId, ...(seconds !== undefined && { handOverAfterSeconds: wholeNumber(seconds, "bot") }) };
}

/** Reads `300/60`. */
export function rateLimitOf(given: string): { limit: number; windowSeconds: number } {
  const [, limit, windowSeconds] = /^(\d{1,9})\/(\d{1,9})$/.exec(given) ?? [];
  if (limit !== undefined) return { limit: Number(limit), windowSeconds: Number(windowSeconds) };
  throw new CommandError("--rate-limit must have the form requests/seconds, for example 300/60.", 2);
}
