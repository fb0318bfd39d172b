import { mkdir, readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { configurationPath, readPrivate, writePrivate } from "../../private-file.ts";
import { type SmokeCaller, SmokeFault, wanted } from "./caller.ts";

const HOUR_MS = 3_600_000;
const PAGE = 100;
/** How often a deletion is tried while the service says that it can't now, and how long to wait: a second. */
const MAX_CALLS = 10;
/** No clean-up may take longer. */
const CLEAN_UP_MS = 120_000;
const NAME = "Smoke test";

interface Temporary {
  id: string;
  name: string;
  createdAt: string;
}

/** A run, as the next ones from this folder see it. */
interface Run {
  url: string;
  pid: number;
  host: string;
}

/** The organizations of one run, and those that earlier runs have left. */
export class Leftovers {
  readonly #caller: SmokeCaller;
  readonly #token: string;
  readonly #folder: string;
  readonly #mark = crypto.randomUUID().slice(0, 8);
  readonly #creations: Promise<unknown>[] = [];
  #isUnsure = false;

  /** @param env where the user's configuration folder is */
  constructor(caller: SmokeCaller, token: string, env: Record<string, string | undefined>) {
    this.#caller = caller;
    this.#token = token;
    this.#folder = dirname(configurationPath(env, "smoke/run"));
  }

  /** The name of this run's organizations. */
  get name(): string {
    return `${NAME} ${this.#mark}`;
  }

  /** Notes that this run begins: if it is killed, the next one deletes what it made. */
  async begin(): Promise<void> {
    const run: Run = { url: this.#caller.base, pid: process.pid, host: hostname() };
    await writePrivate(this.#path(this.#mark), run);
  }

  /**
   * Creates a temporary organization. It is not cut off by an interruption: the service would go on, and the clean-up
   * could come before it.
   * @throws SmokeFault
   */
  async create(jurisdiction: "eu" | "us" | null): Promise<{ id: string; createdAt: string }> {
    this.#caller.signal.throwIfAborted();
    const body = { name: this.name, owner: { name: "Smoke test" }, jurisdiction, temporary: true };
    const whole = new AbortController().signal;
    const creation = this.#caller.ask("POST", "/admin/v1/organizations", { token: this.#token, body, signal: whole });
    this.#creations.push(creation.catch(() => {}));
    const reply = await creation.catch((error: unknown) => {
      this.#isUnsure = true;
      throw error;
    });
    const { organization } = wanted(201, reply).body;
    return organization;
  }

  /**
   * Deletes what runs of this folder have left that are over, and what any run left an hour ago.
   * @returns how many organizations it deleted
   */
  async deleteOld(): Promise<number> {
    const { organizations, now } = await this.#list(this.#caller.signal);
    const ended = await this.#endedRuns();
    const old = organizations.filter(
      ({ name, createdAt }) =>
        now - Date.parse(createdAt) > HOUR_MS || ended.some((mark) => name === `${NAME} ${mark}`),
    );
    for (const { id } of old) await this.#delete(id, this.#caller.signal);
    for (const mark of ended) await rm(this.#path(mark), { force: true });
    return old.length;
  }

  /**
   * Deletes what this run made, also after an interruption.
   * @returns the ids of what is left, and why the first of them is; null if nothing is
   */
  async cleanUp(): Promise<{ ids: string[]; why: string } | null> {
    const signal = AbortSignal.timeout(CLEAN_UP_MS);
    await Promise.all(this.#creations);
    const { organizations } = await this.#list(signal);
    const own = organizations.filter(({ name }) => name === this.name).map(({ id }) => id);
    const results = await Promise.allSettled(own.map((id) => this.#delete(id, signal)));
    const ids = own.filter((_, at) => results[at]?.status === "rejected");
    const failed = results.find((result) => result.status === "rejected");
    if (failed) return { ids, why: (failed.reason as Error).message };
    // An organization may still come of a creation that got no answer: the next run looks for it.
    if (!this.#isUnsure) await rm(this.#path(this.#mark), { force: true });
    return null;
  }

  /** Deletes an organization. @throws SmokeFault */
  delete(id: string): Promise<void> {
    return this.#delete(id, this.#caller.signal);
  }

  async #delete(id: string, signal: AbortSignal): Promise<void> {
    const path = `/admin/v1/organizations/${id}`;
    for (let calls = 1; ; calls++) {
      const reply = await this.#caller.ask("DELETE", path, { token: this.#token, signal });
      // Gone: another run deletes the old ones too.
      if (reply.status === 200 || reply.status === 404) return;
      const wait = Number(reply.headers.get("Retry-After") ?? Number.NaN);
      if (reply.status !== 503 || Number.isNaN(wait) || calls === MAX_CALLS) wanted(200, reply);
      await delay(Math.max(wait, 0.2) * 1_000, undefined, { signal });
    }
  }

  /** All temporary organizations, and the service's time. */
  async #list(signal: AbortSignal): Promise<{ organizations: Temporary[]; now: number }> {
    const organizations: Temporary[] = [];
    for (let page = 1; ; page++) {
      const path = `/admin/v1/organizations?temporary=true&page=${page}&limit=${PAGE}`;
      const { body, headers } = wanted(200, await this.#caller.ask("GET", path, { token: this.#token, signal }));
      organizations.push(...(body.organizations as Temporary[]));
      if (body.pagination.hasMore) continue;
      // By a wrong clock here, the organizations of another run would be old.
      const now = Date.parse(headers.get("Date") ?? "");
      return { organizations, now: Number.isNaN(now) ? Date.now() : now };
    }
  }

  /** The marks of the runs of this folder at this service whose process has ended. */
  async #endedRuns(): Promise<string[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const marks = (await readdir(this.#folder)).flatMap((name) => /^([0-9a-f]{8})\.json$/.exec(name)?.[1] ?? []);
    const ended: string[] = [];
    for (const mark of marks) {
      const run = runOf(await readPrivate(this.#path(mark)));
      if (mark !== this.#mark && run?.url === this.#caller.base && !isRunning(run)) ended.push(mark);
    }
    return ended;
  }

  #path(mark: string): string {
    return join(this.#folder, `${mark}.json`);
  }
}

function runOf(text: string | null): Run | null {
  try {
    return JSON.parse(text ?? "") as Run;
  } catch {
    return null;
  }
}

/** Whether the process of a run is there. That of another machine can't be seen. */
function isRunning({ pid, host }: Run): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** The fault of a list of organizations: what is wrong with the token or the database. */
export function directoryFault(error: unknown, tokenFrom: string): unknown {
  if (!(error instanceof SmokeFault)) return error;
  if (error.message.includes("answered 401")) {
    return new SmokeFault(
      `the operator's token is refused (from ${tokenFrom})`,
      "set PARLEY_ADMIN_TOKEN to the service's ADMIN_TOKEN, or run parley login",
    );
  }
  return error;
}
