import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { configurationPath, readPrivate, writePrivate } from "../../private-file.ts";
import { check, type Reply, type SmokeCaller, SmokeFault, wanted } from "./caller.ts";

const HOUR_MS = 3_600_000;
const PAGE = 100;
/** How often a deletion is tried while the service says that it can't now, and how long to wait: a second. */
const MAX_CALLS = 10;
/** No clean-up may take longer. */
const CLEAN_UP_MS = 120_000;
const NAME = "Smoke test";
/** A run that has not touched its mark for this many beats is over. */
const SILENT_BEATS = 10;
/** The marks of the runs of this process. */
const running = new Set<string>();

interface Organization {
  id: string;
  name: string;
  /** Absent in the answer of a version that has no temporary organizations. */
  temporary?: boolean;
  createdAt: string;
}

/** A run, as the next ones from this folder see it. */
interface Run {
  url: string;
  /** What it created. */
  ids: string[];
}

/** A page of the organizations. */
interface Page {
  organizations: Organization[];
  pagination: { hasMore: boolean };
}

/** The organizations of one run, and those that earlier runs have left. It deletes no other ones. */
export class Leftovers {
  readonly #caller: SmokeCaller;
  readonly #token: string;
  readonly #folder: string;
  readonly #beatMs: number;
  readonly #mark = crypto.randomUUID().slice(0, 8);
  readonly #creations: Promise<unknown>[] = [];
  readonly #ids = new Set<string>();
  #beat: NodeJS.Timeout | undefined;
  #isUnsure = false;

  /**
   * @param env where the user's configuration folder is
   * @param beatMs how often a run touches its mark
   */
  constructor(caller: SmokeCaller, token: string, env: Record<string, string | undefined>, beatMs: number) {
    this.#caller = caller;
    this.#token = token;
    this.#folder = dirname(configurationPath(env, "smoke/run"));
    this.#beatMs = beatMs;
  }

  /** The name of this run's organizations. */
  get name(): string {
    return nameOf(this.#mark);
  }

  /** Notes that this run begins: if it is killed, the next one deletes what it made. */
  async begin(): Promise<void> {
    await this.#note();
    running.add(this.#mark);
    const path = this.#path(this.#mark);
    // A process id would say nothing in another container.
    this.#beat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), this.#beatMs).unref();
  }

  /**
   * Creates a temporary organization. It is not cut off by an interruption: the service would go on, and the clean-up
   * could come before it.
   * @throws SmokeFault also if the organization is not temporary; the clean-up deletes it too
   */
  async create(jurisdiction: "eu" | "us" | null): Promise<Organization> {
    this.#caller.signal.throwIfAborted();
    const creation = this.#create(jurisdiction);
    this.#creations.push(creation.catch(() => {}));
    return creation;
  }

  async #create(jurisdiction: "eu" | "us" | null): Promise<Organization> {
    const body = { name: this.name, owner: { name: "Smoke test" }, jurisdiction, temporary: true };
    const signal = new AbortController().signal;
    let reply: Reply<{ organization: Organization }>;
    try {
      reply = await this.#caller.ask("POST", "/admin/v1/organizations", { token: this.#token, body, signal });
    } catch (error) {
      this.#isUnsure = true;
      throw error;
    }
    const organization = wanted(201, reply).body.organization;
    if (organization.name !== this.name) {
      this.#isUnsure = true;
      throw new SmokeFault("the answer to a creation is about another organization", ALTERED);
    }
    this.#ids.add(organization.id);
    await this.#note();
    check(organization.temporary === true, "an older version answers: it has no temporary organizations", OLDER);
    return organization;
  }

  /**
   * Deletes what runs of this folder have left that are over, and what any run left an hour ago.
   * @returns how many organizations it deleted, and the ids of those that it can't delete
   */
  async deleteOld(): Promise<{ deleted: number; left: string[] }> {
    const ended = await this.#endedRuns();
    const { organizations, now } = await this.#list(this.#caller.signal);
    const names = [...ended.keys()].map(nameOf);
    const old = organizations.filter(
      ({ name, createdAt }) => now - Date.parse(createdAt) > HOUR_MS || names.includes(name),
    );
    const ids = new Set([...old.map(({ id }) => id), ...[...ended.values()].flatMap((run) => run.ids)]);
    let deleted = 0;
    const left: string[] = [];
    for (const id of ids) {
      try {
        if (await this.#delete(id, this.#caller.signal)) deleted++;
      } catch {
        this.#caller.signal.throwIfAborted();
        left.push(id);
      }
    }
    // The next run tries again what is left.
    if (left.length === 0) for (const mark of ended.keys()) await rm(this.#path(mark), { force: true });
    return { deleted, left };
  }

  /**
   * Deletes what this run made, also after an interruption.
   * @returns the ids of what is left, and why the first of them is; null if nothing is
   * @throws SmokeFault if something may be left
   */
  async cleanUp(): Promise<{ ids: string[]; why: string } | null> {
    try {
      return await this.#cleanUp(AbortSignal.timeout(CLEAN_UP_MS));
    } finally {
      clearInterval(this.#beat);
      running.delete(this.#mark);
    }
  }

  async #cleanUp(signal: AbortSignal): Promise<{ ids: string[]; why: string } | null> {
    await Promise.all(this.#creations);
    // The list shows what came of a creation without an answer, and not what an older version created.
    const [listed] = await Promise.allSettled([this.#list(signal)]);
    const found = listed.status === "fulfilled" ? listed.value.organizations : [];
    const named = found.filter(({ name }) => name === this.name).map(({ id }) => id);
    const own = [...new Set([...this.#ids, ...named])];
    const results = await Promise.allSettled(own.map((id) => this.#delete(id, signal)));
    const ids = own.filter((_, at) => results[at]?.status === "rejected");
    const failed = results.find((result) => result.status === "rejected");
    if (failed) return { ids, why: (failed.reason as Error).message };
    if (listed.status === "rejected") throw listed.reason;
    // An organization may still come of a creation that got no answer: the next run looks for it.
    if (!this.#isUnsure) await rm(this.#path(this.#mark), { force: true });
    return null;
  }

  /** Deletes an organization of this run. @throws SmokeFault */
  async delete(id: string): Promise<void> {
    await this.#delete(id, this.#caller.signal);
  }

  /** @returns whether it was there: another run deletes the old ones too */
  async #delete(id: string, signal: AbortSignal): Promise<boolean> {
    const path = `/admin/v1/organizations/${id}`;
    for (let calls = 1; ; calls++) {
      const reply = await this.#caller.ask("DELETE", path, { token: this.#token, signal });
      if (reply.status === 200 || reply.status === 404) {
        this.#ids.delete(id);
        return reply.status === 200;
      }
      const wait = Number(reply.headers.get("Retry-After") ?? Number.NaN);
      if (reply.status !== 503 || Number.isNaN(wait) || calls === MAX_CALLS) wanted(200, reply);
      await delay(Math.max(wait, 0.2) * 1_000, undefined, { signal });
    }
  }

  /** All temporary organizations, and the service's time. @throws SmokeFault if the list has other ones */
  async #list(signal: AbortSignal): Promise<{ organizations: Organization[]; now: number }> {
    const organizations = new Map<string, Organization>();
    for (let page = 1; ; page++) {
      const path = `/admin/v1/organizations?temporary=true&page=${page}&limit=${PAGE}`;
      const { body, headers } = wanted(200, await this.#caller.ask<Page>("GET", path, { token: this.#token, signal }));
      const { organizations: shown, pagination } = body;
      const { hasMore } = pagination;
      const isAnother = shown.some(({ temporary }) => temporary !== true);
      const isAgain = hasMore && shown.every(({ id }) => organizations.has(id));
      check(!isAnother && !isAgain, "the list has other organizations: something removed the query", ALTERED);
      for (const organization of shown) organizations.set(organization.id, organization);
      if (hasMore) continue;
      // By a wrong clock here, the organizations of another run would be old.
      const now = Date.parse(headers.get("Date") ?? "");
      return { organizations: [...organizations.values()], now: Number.isNaN(now) ? Date.now() : now };
    }
  }

  /** The runs of this folder at this service that are over, by their marks: nobody touches these. */
  async #endedRuns(): Promise<Map<string, Run>> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const marks = (await readdir(this.#folder)).flatMap((name) => /^([0-9a-f]{8})\.json$/.exec(name)?.[1] ?? []);
    const before = new Map<string, number>();
    for (const mark of marks.filter((one) => !running.has(one))) {
      const run = await this.#run(mark);
      if (run?.url === this.#caller.base) before.set(mark, await this.#touchedAt(mark));
    }
    if (before.size === 0) return new Map();
    await delay(SILENT_BEATS * this.#beatMs, undefined, { signal: this.#caller.signal });
    const ended = new Map<string, Run>();
    for (const [mark, at] of before) {
      const run = await this.#run(mark);
      if (run && (await this.#touchedAt(mark)) === at) ended.set(mark, run);
    }
    return ended;
  }

  async #run(mark: string): Promise<Run | null> {
    try {
      return { ids: [], ...(JSON.parse((await readPrivate(this.#path(mark))) ?? "") as object) } as unknown as Run;
    } catch (error) {
      if (error instanceof SyntaxError) return null;
      throw error;
    }
  }

  /** When a mark was touched last; 0 if it is gone. */
  async #touchedAt(mark: string): Promise<number> {
    return (await stat(this.#path(mark)).catch(() => null))?.mtimeMs ?? 0;
  }

  #note(): Promise<void> {
    const run: Run = { url: this.#caller.base, ids: [...this.#ids] };
    return writePrivate(this.#path(this.#mark), run);
  }

  #path(mark: string): string {
    return join(this.#folder, `${mark}.json`);
  }
}

const ALTERED = "look for a proxy or a cache between here and the Worker that drops queries";
const OLDER = "a rollout takes a minute: repeat this";

/** The name of a run's organizations. */
function nameOf(mark: string): string {
  return `${NAME} ${mark}`;
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
