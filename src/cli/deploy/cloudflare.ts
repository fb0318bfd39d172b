import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { CommandError } from "../command-error.ts";
import { type Environment, type ProcessResult, runWrangler } from "../wrangler.ts";

/** Cloudflare, as wrangler reaches it: each method is one or two of its commands. */
export class Cloudflare {
  readonly #flags: string[];
  readonly #signal: AbortSignal;
  #account: Environment = {};

  /** @param config the path of `wrangler.toml` */
  constructor(config: string, signal: AbortSignal) {
    this.#flags = ["--config", config];
    this.#signal = signal;
  }

  /**
   * Finds out who deploys, and into which account everything goes from here on.
   * @param given the account that was named, which need not be looked for
   * @returns its name, or its id where the name is not known
   * @throws CommandError when nobody is logged in, or there are several accounts and none was named
   */
  async logIn(given: string | undefined): Promise<string> {
    const answer = await this.#ask(["whoami", "--json"]);
    const user = parsed<{ loggedIn: boolean; accounts?: Account[] }>(answer.stdout);
    if (user?.loggedIn === false) throw new CommandError(`Not logged in to Cloudflare. ${LOG_IN}`);
    // A token may be good for all that follows and not for this question.
    if (answer.code !== 0 && !given) throw failure("Cloudflare can't identify you", answer, LOG_IN);
    const accounts = user?.accounts ?? [];
    const id = given ?? (accounts.length === 1 ? accounts[0]?.id : undefined);
    if (!id) {
      const list = accounts.map(
        (account) => `\n  CLOUDFLARE_ACCOUNT_ID=${account.id} npm run deploy  # ${account.name}`,
      );
      const several = `This login has ${accounts.length} accounts. Choose one:${list.join("")}`;
      throw new CommandError(accounts.length > 0 ? several : `This login has no account. ${LOG_IN}`);
    }
    this.#account = { CLOUDFLARE_ACCOUNT_ID: id };
    return accounts.find((account) => account.id === id)?.name ?? id;
  }

  /** The id of the database of this name, or null. */
  async findDatabase(name: string): Promise<string | null> {
    const answer = await this.#done(["d1", "list", "--json"], "The databases can't be listed");
    const all = parsed<{ uuid: string; name: string }[]>(answer.stdout) ?? [];
    return all.find((database) => database.name === name)?.uuid ?? null;
  }

  /** Makes a database. @returns its id */
  async createDatabase(name: string): Promise<string> {
    const { stdout } = await this.#done(["d1", "create", name], "The database can't be created");
    const id = /"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/.exec(stdout)?.[1];
    if (!id) throw new CommandError(`wrangler created the database ${name} without printing its id. ${AGAIN}`);
    return id;
  }

  /** Brings the database to the newest schema. @returns the migrations that it lacked */
  async migrate(): Promise<string[]> {
    const answer = await this.#ask(["d1", "migrations", "apply", "DB", "--remote"]);
    if (answer.code === 0) return [...new Set(answer.stdout.match(/\w+\.sql/g) ?? [])];
    const isElsewhere = answer.stderr.includes("[code: 7404]");
    const advice = isElsewhere
      ? "The database_id in wrangler.toml is none of this account's: with the zeros of the repository in its place, " +
        "npm run deploy finds the database by its name, or makes it."
      : `A migration that fails is undone, those before it stay, and the code that runs is as it was. ${AGAIN}`;
    throw failure("The database can't be migrated", answer, advice);
  }

  /** The names of the Worker's secrets; null while there is no Worker. */
  async secrets(): Promise<string[] | null> {
    const answer = await this.#ask(["secret", "list"]);
    if (answer.code !== 0 && /Worker ".*" not found/.test(answer.stderr)) return null;
    if (answer.code !== 0) throw failure("The secrets can't be listed", answer, AGAIN);
    return (parsed<{ name: string }[]>(answer.stdout) ?? []).map(({ name }) => name);
  }

  /**
   * Builds the Worker and uploads it.
   * @param secretsFile secrets that its new version gets besides those that it has
   * @param folder where wrangler writes what it did
   * @returns the addresses under which it is reached, as wrangler writes them
   */
  async deploy(others: string[], secretsFile: string | null, folder: string): Promise<string[]> {
    const secrets = secretsFile === null ? [] : ["--secrets-file", secretsFile];
    const outputFile = join(folder, "output");
    const env = { WRANGLER_OUTPUT_FILE_PATH: outputFile };
    const advice = "What is deployed stays as it was, unless the error says otherwise.";
    await this.#done(["deploy", "--minify", ...secrets, ...others], "The Worker can't be deployed", advice, env);
    const lines = (await readFile(outputFile, "utf8").catch(() => "")).split("\n");
    const done = lines.map((line) => parsed<{ type: string; targets?: string[] }>(line));
    return done.findLast((entry) => entry?.type === "deploy")?.targets ?? [];
  }

  /** Builds the Worker as a deploy would, and uploads nothing. */
  async build(others: string[]): Promise<void> {
    await this.#done(["deploy", "--dry-run", "--minify", ...others], "The Worker can't be built");
  }

  #ask(args: string[], env: Environment = {}): Promise<ProcessResult> {
    return runWrangler([...args, ...this.#flags], this.#signal, { ...this.#account, ...env });
  }

  async #done(args: string[], complaint: string, advice = "", env?: Environment): Promise<ProcessResult> {
    const answer = await this.#ask(args, env);
    if (answer.code !== 0) throw failure(complaint, answer, `${advice} ${AGAIN}`.trim());
    return answer;
  }
}

type Account = { id: string; name: string };

const LOG_IN =
  "Run npx wrangler login, or set CLOUDFLARE_API_TOKEN to a token that may edit Workers Scripts and D1; then repeat.";
const AGAIN = "Fix this, then repeat the command: what exists is kept.";

/** At most so many lines of wrangler's are repeated. */
const MAX_LINES = 8;

function failure(complaint: string, { stdout, stderr }: ProcessResult, advice: string): CommandError {
  const said = errorsIn(`${stderr}\n${stdout}`).map((line) => `\n  ${line}`);
  return new CommandError(`${complaint}. wrangler says:${said.join("")}\n${advice}`);
}

/** What wrangler says of an error, without its decoration and its invitation to report it. */
export function errorsIn(output: string): string[] {
  const lines = stripVTControlCharacters(output)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("If you think this is a bug"));
  const first = lines.findIndex((line) => line.includes("[ERROR]"));
  const said = lines.slice(Math.max(first, 0), Math.max(first, 0) + MAX_LINES);
  return said.map((line) => line.replace(/^\S*\s*\[ERROR\]\s*/, ""));
}

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}
