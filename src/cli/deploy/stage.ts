import { createHash } from "node:crypto";
import { CommandError } from "../command-error.ts";

/** Short, because a bucket's name has at most 63 characters. */
const STAGE = /^[a-z](?:[a-z0-9-]{0,18}[a-z0-9])?$/;
const NAME = /^name\s*=\s*"([^"\r\n]+)"/m;
/** A stage must not take over an address of production, or believe that it has it. */
const OF_PRODUCTION = /^\s*(?:routes?|workers_dev|preview_urls|CONSOLE_HOST|PUBLIC_HOST)\s*=/;

/** @throws CommandError with exit code 2 */
export function stageOf(text: string): string {
  if (STAGE.test(text)) return text;
  throw new CommandError(
    "--stage must be a name of 1 to 20 small letters, digits and dashes. It begins with a letter and does not end with a dash.",
    2,
  );
}

/**
 * The text of `wrangler.toml` for a stage: another Worker with a database, buckets and a rate limiter of its own, at an
 * address under workers.dev. The Worker `parley` becomes `parley-<stage>`, its bucket `parley-media` `parley-<stage>-media`.
 * @throws CommandError if the file names no Worker
 */
export function configOfStage(text: string, stage: string): string {
  const name = NAME.exec(text)?.[1];
  if (!name) throw new CommandError("wrangler.toml has no name. Restore the file: git checkout wrangler.toml.");
  const staged = (other: string) =>
    other === name || other.startsWith(`${name}-`)
      ? `${name}-${stage}${other.slice(name.length)}`
      : `${stage}-${other}`;
  const lines = withoutRouteLists(text)
    .split("\n")
    .filter((line) => !OF_PRODUCTION.test(line));
  return lines
    .join("\n")
    .replace(NAME, `name = "${staged(name)}"\nworkers_dev = true`)
    .replace(/^(\s*(?:database_name|bucket_name)\s*=\s*")([^"\r\n]+)"/gm, (_, key, other) => `${key}${staged(other)}"`)
    .replace(/^(\s*database_id\s*=\s*")[^"\r\n]*"/gm, '$100000000-0000-0000-0000-000000000000"')
    .replace(/^(\s*namespace_id\s*=\s*")([^"\r\n]+)"/gm, (_, key, other) => `${key}${namespaceOf(other, stage)}"`);
}

/** Lists of routes over several lines, and tables of them. */
function withoutRouteLists(text: string): string {
  return text
    .replace(/^routes\s*=\s*\[\s*\n[\s\S]*?^\]\s*\n/gm, "")
    .replace(/^\[\[?routes?\]\]?[\s\S]*?(?=^\[|(?![\s\S]))/gm, "");
}

/** Rate limiters of one account that have the same id share their counters. */
function namespaceOf(id: string, stage: string): string {
  const digest = createHash("sha256").update(`${id} ${stage}`).digest();
  return String(1_000_000 + (digest.readUInt32BE() % 1_000_000_000));
}
