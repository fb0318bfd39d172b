import { bad, type Check, ok } from "../check.ts";
import { printable } from "../table.ts";
import { SmokeCaller, SmokeFault, Unproven } from "./caller.ts";
import { alarmStep, clockStep, deletionStep, filesStep, keyStep, organizationStep, webhookStep } from "./data-steps.ts";
import { addressStep, healthStep, pagesStep, plainHttpStep, rolloutStep, strangersStep } from "./front-steps.ts";
import { type Lab, PACE, type Pace, type SmokePlace, type Tenant } from "./lab.ts";
import { directoryFault, Leftovers } from "./leftovers.ts";
import { socketStep, streamStep } from "./live-steps.ts";

/** The result of a step, and how long it took. */
export interface SmokeCheck extends Check {
  ms: number;
}

export interface SmokeOptions {
  /** The service's origin. */
  url: string;
  /** The operator's token, and where it is from. */
  token: { value: string; from: string };
  /** The URL of a receiver of webhooks, or null. */
  webhook: string | null;
  /** The same host over plain http; null for a server on this machine. */
  plain: string | null;
  /** Whether buckets are bound; true by default. */
  files?: boolean;
  /** The build that a deploy has just made; null if it is not known. */
  build: string | null;
  /** Interrupts the run. What it made is still deleted. */
  signal: AbortSignal;
  /** The environment, which says where the configuration folder is. */
  env: Record<string, string | undefined>;
  /** Gets each result when its step has ended. */
  onCheck: (check: SmokeCheck) => void;
  pace?: Pace;
}

const TAIL = "npx wrangler tail shows why";
const ZONE = '"Zone settings" in the guide Deploying';
const DATABASE = `check the database DB and apply its migrations: npm run deploy. ${TAIL}`;
const OBJECTS = `check the Durable Objects in wrangler.toml and the migrations of the database. ${TAIL}`;
const PLACES: { place: SmokePlace; name: string; bucket: string }[] = [
  { place: null, name: "no jurisdiction", bucket: "MEDIA" },
  { place: "eu", name: "jurisdiction eu", bucket: "MEDIA_EU" },
  { place: "us", name: "jurisdiction us", bucket: "MEDIA_US" },
];
const LOCAL = "the local runtime has no jurisdictions";

/**
 * Proves at the running service that the platform gives it what it needs, in temporary organizations that it deletes, also
 * when a step fails or the run is interrupted.
 * @returns whether no step failed and nothing is left
 * @throws the reason of `signal`, after the clean-up
 */
export async function smoke(options: SmokeOptions): Promise<boolean> {
  const { url, token, webhook, plain, build, files = true, signal, env, onCheck, pace = PACE } = options;
  const stop = new AbortController();
  const caller = new SmokeCaller(url, AbortSignal.any([signal, stop.signal]));
  const leftovers = new Leftovers(caller, token.value, env, pace.beat);
  const lab = { caller, token, leftovers, pace, webhook, plain, files, build, seen: [], withFiles: new Set<string>() };
  const run = new Run(lab, onCheck);
  try {
    await run.all();
  } finally {
    // What still waits ends before what it uses is deleted.
    stop.abort();
    await run.settle();
    if (run.hasBegun) await cleanUp(leftovers, run);
  }
  signal.throwIfAborted();
  return run.isGood;
}

async function cleanUp(leftovers: Leftovers, run: Run): Promise<void> {
  const what = "clean-up";
  const begun = performance.now();
  const advice = "the next run deletes what is left, or parley organizations delete";
  const result = await leftovers.cleanUp().then(
    (left) => left && `these temporary organizations are left: ${left.ids.join(", ")} (${left.why})`,
    (error: unknown) => `temporary organizations may be left: ${(error as Error).message}`,
  );
  if (result !== null) run.report({ ...bad(what, "fails", result, advice), ms: performance.now() - begun });
}

/** What a step proved, as a sentence; or what it could not. */
type Outcome = string | Unproven;

class Run {
  isGood = true;
  /** Whether it may have created something. */
  hasBegun = false;
  readonly #lab: Lab;
  readonly #onCheck: SmokeOptions["onCheck"];
  readonly #tenants = new Map<SmokePlace, Tenant>();
  readonly #underWay: Promise<unknown>[] = [];

  constructor(lab: Lab, onCheck: SmokeOptions["onCheck"]) {
    this.#lab = lab;
    this.#onCheck = onCheck;
  }

  report(check: SmokeCheck): void {
    if (check.state === "fails") this.isGood = false;
    this.#onCheck(check);
  }

  settle(): Promise<unknown> {
    return Promise.allSettled(this.#underWay);
  }

  async all(): Promise<void> {
    const lab = this.#lab;
    const { plain, seen } = lab;
    if (!(await this.#step("service", "check the address and what is in front of it", () => healthStep(lab)))) return;
    const isLocal = seen.every(({ build }) => build === null);
    if (plain === null) this.#skip("plain http", "a server on this machine");
    else await this.#step("plain http", ZONE, () => plainHttpStep(plain, lab.caller.signal));
    await this.#step("pages", "deploy again: npm run deploy", () => pagesStep(lab));
    if (!(await this.#step("database", DATABASE, () => this.#database()))) return;
    await lab.leftovers.begin();
    this.hasBegun = true;
    for (const { place, name } of PLACES) {
      const what = `organization, ${name}`;
      if (isLocal && place !== null) this.#skip(what, LOCAL);
      else await this.#step(what, OBJECTS, () => organizationStep(lab, place, (one) => this.#tenants.set(place, one)));
    }
    // These wait most of their time.
    const waiting = [
      this.#with(null, "alarms", "check the object of chats. npx wrangler tail shows why", (one) =>
        alarmStep(lab, one),
      ),
      this.#with(null, "visitors' socket", TAIL, (one) => socketStep(lab, one)),
      this.#with(null, "stream of events", TAIL, (one) => streamStep(lab, one)),
    ];
    await this.#with(null, "clock", TAIL, (one) => clockStep(one));
    await this.#with(null, "limits of a key", OBJECTS, (one) => keyStep(lab, one));
    for (const { place, name, bucket } of PLACES) {
      const what = `files, ${name}`;
      const advice = `check the bucket ${bucket}: npm run deploy creates and binds it. npx wrangler tail shows why`;
      if (!lab.files) this.#skip(what, "the service was deployed without files");
      else if (isLocal && place !== null) this.#skip(what, LOCAL);
      else await this.#with(place, what, advice, (one) => filesStep(lab, one));
    }
    const { webhook } = lab;
    if (webhook === null) this.#skip("webhooks", "no --webhook was given");
    else await this.#with(null, "webhooks", "check the URL", (one) => webhookStep(lab, one, webhook));
    await this.#with(null, "client address", ZONE, (one) => addressStep(lab, one));
    await Promise.all(waiting);
    const tenants = [...this.#tenants.values()];
    if (tenants.length > 0) await this.#step("deletion", TAIL, () => deletionStep(lab, tenants));
    // After it, this address is a stranger for a few seconds.
    await this.#step("limit of strangers", TAIL, () => strangersStep(lab));
    if (isLocal) this.#skip("rollout", "the service is not deployed");
    else await this.#step("rollout", "repeat this in a minute", () => rolloutStep(lab));
  }

  async #database(): Promise<string> {
    const { leftovers, token } = this.#lab;
    const { deleted, left } = await leftovers.deleteOld().catch((error: unknown) => {
      throw directoryFault(error, token.from);
    });
    const gone = deleted === 0 ? "" : `; deleted ${deleted} left by earlier runs`;
    return `answers the operator${gone}${left.length === 0 ? "" : `; can't delete ${left.join(", ")} of earlier runs`}`;
  }

  /** A step that needs the organization of a place. */
  #with(place: SmokePlace, what: string, advice: string, step: (tenant: Tenant) => Promise<Outcome>): Promise<unknown> {
    const tenant = this.#tenants.get(place);
    if (tenant) return this.#step(what, advice, () => step(tenant));
    this.#skip(what, "there is no organization to try it in");
    return Promise.resolve();
  }

  #skip(what: string, why: string): void {
    this.report({ what, state: "unknown", found: `not checked: ${why}`, advice: null, ms: 0 });
  }

  /** Runs a step and reports it. @returns whether it did not fail */
  #step(what: string, advice: string, step: () => Promise<Outcome>): Promise<boolean> {
    const running = this.#run(what, advice, step);
    running.catch(() => {});
    this.#underWay.push(running);
    return running;
  }

  async #run(what: string, advice: string, step: () => Promise<Outcome>): Promise<boolean> {
    const { signal } = this.#lab.caller;
    const begun = performance.now();
    const msSince = () => performance.now() - begun;
    try {
      const outcome = await step();
      const check =
        outcome instanceof Unproven ? bad(what, "unknown", outcome.found, outcome.advice) : ok(what, outcome);
      this.report({ ...check, ms: msSince() });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      const isFault = error instanceof SmokeFault;
      // A step that reads an answer of another form than the service's.
      const found = isFault ? error.message : `an answer is not the service's (${printable(String(error))})`;
      this.report({ ...bad(what, "fails", found, (isFault ? error.advice : null) ?? advice), ms: msSince() });
      return false;
    }
  }
}
