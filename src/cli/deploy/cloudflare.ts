import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { CommandError } from "../command-error.ts";
import { type Environment, type ProcessResult, runWrangler } from "../wrangler.ts";
import type { Bucket } from "./config-file.ts";

/** wrangler has no login and no token. */
export class NotLoggedIn extends CommandError {}

/** Calls Cloudflare through wrangler. Each method runs one or two wrangler commands. */
export class Cloudflare {
  readonly #config: string;
  readonly #signal: AbortSignal;
  #account: { CLOUDFLARE_ACCOUNT_ID?: string } = {};

  /** @param config the path of `wrangler.toml` */
  constructor(config: string, signal: AbortSignal) {
    this.#config = config;
    this.#signal = signal;
  }

  /**
   * Checks the login and selects the account for all further calls.
   * @param given the id of the account. If undefined, the login must have exactly one account
   * @returns the account's name, or its id if the name is unknown
   * @throws NotLoggedIn without a login
   * @throws CommandError if the login has several accounts and `given` is undefined
   */
  async logIn(given: string | undefined): Promise<string> {
    const result = await this.#run(["whoami", "--json"]);
    const user = parsed<{ loggedIn: boolean; accounts?: Account[] }>(result.stdout);
    if (user?.loggedIn === false) throw new NotLoggedIn(`Not logged in to Cloudflare. ${LOG_IN}`);
    // An API token may allow a deploy but not this request.
    if (result.code !== 0 && !given) throw commandError("Cloudflare can't identify you", result, LOG_IN);
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

  /** Returns the id of the database with this name, or null. */
  async findDatabase(name: string): Promise<string | null> {
    const result = await this.#runOrFail(["d1", "list", "--json"], "The databases can't be listed");
    const all = parsed<{ uuid: string; name: string }[]>(result.stdout) ?? [];
    return all.find((database) => database.name === name)?.uuid ?? null;
  }

  /** Creates a database. @returns its id */
  async createDatabase(name: string): Promise<string> {
    const { stdout } = await this.#runOrFail(["d1", "create", name], "The database can't be created");
    const id = /"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/.exec(stdout)?.[1];
    if (!id) throw new CommandError(`wrangler created the database ${name} without printing its id. ${AGAIN}`);
    return id;
  }

  /** Whether the account has a bucket. @throws CommandError also if R2 is off */
  async hasBucket({ name, jurisdiction }: Bucket): Promise<boolean> {
    // The cheapest question about one bucket: a list has only the first ones, and `info` also reads its statistics.
    const result = await this.#run(["r2", "bucket", "lifecycle", "list", name, ...within(jurisdiction)]);
    if (result.code === 0) return true;
    if (has(result, NO_BUCKET)) return false;
    throw this.#bucketError(`The bucket ${name} can't be read`, result);
  }

  /** Creates a bucket, unless the account has it. */
  async createBucket({ name, jurisdiction }: Bucket): Promise<void> {
    const result = await this.#run(["r2", "bucket", "create", name, ...within(jurisdiction)]);
    if (result.code !== 0 && !has(result, BUCKET_EXISTS)) {
      throw this.#bucketError(`The bucket ${name} can't be created`, result);
    }
  }

  #bucketError(summary: string, result: ProcessResult): CommandError {
    const { CLOUDFLARE_ACCOUNT_ID: account } = this.#account;
    const isOff = has(result, R2_IS_OFF);
    return isOff ? new CommandError(r2IsOff(account)) : commandError(summary, result, `${IN_R2} ${AGAIN}`);
  }

  /** Applies the missing migrations to the database. @returns their file names */
  async migrate(): Promise<string[]> {
    const result = await this.#run(["d1", "migrations", "apply", "DB", "--remote"]);
    if (result.code === 0) return [...new Set(result.stdout.match(/\w+\.sql/g) ?? [])];
    const isElsewhere = result.stderr.includes("[code: 7404]");
    const advice = isElsewhere
      ? "The account has no database with the database_id in wrangler.toml. Restore the zeros of the repository: then " +
        "npm run deploy finds the database by its name, or creates it."
      : `The failed migration was rolled back. Earlier migrations and the running Worker are unchanged. ${AGAIN}`;
    throw commandError("The database can't be migrated", result, advice);
  }

  /** Whether the database has an organization that is not a smoke test's. */
  async hasOrganization(): Promise<boolean> {
    const query = "SELECT 1 FROM organizations WHERE NOT temporary LIMIT 1";
    const args = ["d1", "execute", "DB", "--remote", "--json", "--command", query];
    const { stdout } = await this.#runOrFail(args, "The organizations can't be read");
    return (parsed<{ results: object[] }[]>(stdout)?.[0]?.results.length ?? 0) > 0;
  }

  /** The names of the Worker's secrets, or null if there is no Worker. */
  async secrets(): Promise<string[] | null> {
    const result = await this.#run(["secret", "list"]);
    if (result.code !== 0 && /Worker ".*" not found/.test(result.stderr)) return null;
    if (result.code !== 0) throw commandError("The secrets can't be listed", result, AGAIN);
    return (parsed<{ name: string }[]>(result.stdout) ?? []).map(({ name }) => name);
  }

  /**
   * Builds the Worker and uploads it.
   * @param secretsFile a file of secrets to add to the Worker, or null
   * @param folder a temporary folder for wrangler's output file
   * @param config the path of another configuration than `wrangler.toml`
   * @returns the Worker's addresses, as wrangler prints them, and the id of the new version; null if wrangler says none
   */
  async deploy(others: string[], secretsFile: string | null, folder: string, config?: string): Promise<Deployed> {
    const secrets = secretsFile === null ? [] : ["--secrets-file", secretsFile];
    const outputFile = join(folder, "output");
    const env = { WRANGLER_OUTPUT_FILE_PATH: outputFile };
    const advice = "The deployed version is unchanged, unless the error says otherwise.";
    const args = ["deploy", ...secrets, ...others];
    await this.#runOrFail(args, "The Worker can't be deployed", { advice, env, config });
    const lines = (await readFile(outputFile, "utf8").catch(() => "")).split("\n");
    const entries = lines.map((line) => parsed<{ type: string; targets?: string[]; version_id?: string }>(line));
    const entry = entries.findLast((one) => one?.type === "deploy");
    return { targets: entry?.targets ?? [], build: entry?.version_id ?? null };
  }

  /** Builds the Worker without uploading it. @param config as for `deploy` */
  async build(others: string[], config?: string): Promise<void> {
    await this.#runOrFail(["deploy", "--dry-run", ...others], "The Worker can't be built", { config });
  }

  #run(args: string[], { env, config = this.#config }: RunOptions = {}): Promise<ProcessResult> {
    return runWrangler([...args, "--config", config], this.#signal, { ...this.#account, ...env });
  }

  async #runOrFail(args: string[], summary: string, options: RunOptions & { advice?: string } = {}) {
    const { advice = "" } = options;
    const result = await this.#run(args, options);
    if (result.code !== 0) throw commandError(summary, result, `${advice} ${AGAIN}`.trim());
    return result;
  }
}

/** What a deploy made. */
export interface Deployed {
  targets: string[];
  build: string | null;
}

type Account = { id: string; name: string };
type RunOptions = { env?: Environment; config?: string | undefined };

/** Codes of Cloudflare's API. */
const NO_BUCKET = 10006;
const BUCKET_EXISTS = 10004;
const R2_IS_OFF = 10042;
const UNVERIFIED = 10034;
const IN_R2 = "The login or the token must be allowed to edit R2 (Workers R2 Storage: Edit).";

const LOG_IN =
  "Run npx wrangler login, or set CLOUDFLARE_API_TOKEN to a token that can edit Workers Scripts, D1 and R2. Then repeat the command.";
const VERIFY =
  "The account's email address is not verified: open the link in Cloudflare's email, or have another one sent at " +
  "https://dash.cloudflare.com/profile. Then repeat the command.";
const AGAIN = "Fix this, then repeat the command. It keeps what exists.";

function r2IsOff(account = ":account"): string {
  return (
    "R2, where the files of messages are stored, is off in this account. Turn it on in Cloudflare's dashboard, once: open " +
    `https://dash.cloudflare.com/${account}/r2/overview, and choose "Add R2 subscription to my account". Then repeat the ` +
    "command. Without R2: npm run deploy -- --without-files."
  );
}

function within(jurisdiction: string | null): string[] {
  return jurisdiction === null ? [] : ["--jurisdiction", jurisdiction];
}

/** Whether wrangler's error has this code of Cloudflare's API. */
function has({ stdout, stderr }: ProcessResult, code: number): boolean {
  return `${stdout}${stderr}`.includes(`[code: ${code}]`);
}

/** The most lines of wrangler's error to repeat. */
const MAX_LINES = 8;

function commandError(summary: string, result: ProcessResult, advice: string): CommandError {
  if (has(result, UNVERIFIED)) return new CommandError(`${summary}. ${VERIFY}`);
  const { stdout, stderr } = result;
  const errors = errorsIn(`${stderr}\n${stdout}`).map((line) => `\n  ${line}`);
  return new CommandError(`${summary}. wrangler says:${errors.join("")}\n${advice}`);
}

/** The error in wrangler's output, without symbols, the list of options and the invitation to report a bug. */
export function errorsIn(output: string): string[] {
  const lines = stripVTControlCharacters(output)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("If you think this is a bug"));
  const first = lines.findIndex((line) => line.includes("[ERROR]"));
  const start = Math.max(first, 0);
  const usage = lines.findIndex((line, at) => at > start && line.startsWith("wrangler deploy ["));
  return lines
    .slice(start, usage < 0 ? start + MAX_LINES : usage)
    .map((line) => line.replace(/^\S*\s*\[ERROR\]\s*/, ""));
}

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}
