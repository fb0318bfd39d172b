import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type * as Worker from "../../src/index.ts";
import { Delays, settingsOf } from "./delays.ts";

// biome-ignore lint/suspicious/noExplicitAny: what is wrapped here has every type
type Any = any;
type Run = (this: Any, ...given: Any[]) => Any;

/** As the plugin's helpers call an object: their calls are the test's own, and not delayed. */
const HELPER = "vitestPoolWorkersDurableObjectAction";
const BUCKETS = ["MEDIA", "MEDIA_EU", "MEDIA_US"] as const;
const BUCKET_METHODS = ["head", "get", "put", "delete", "list"] as const;
const STATEMENT_METHODS = ["first", "run", "all", "raw"] as const;

const plain = { wait: scheduler.wait.bind(scheduler) };
let delays: Delays | null = null;

/**
 * Disturbs the time of all that runs in this runtime, as `JITTER` says: calls to objects, D1 and R2 with their
 * responses, the responses of fake networks, alarms, frames of sockets, and timers. Call it once for each runtime.
 */
export function disturb(worker: typeof Worker): void {
  const classes = {
    ORGANIZATIONS: worker.OrganizationObject,
    KEYS: worker.KeyObject,
    CHATS: worker.ChatObject,
    CHANNELS: worker.ChannelObject,
    WEBHOOKS: worker.WebhookObject,
    SEARCH_INDEXES: worker.SearchIndexObject,
  };
  for (const [name, objectClass] of Object.entries(classes)) {
    disturbCalls(name, env[name as keyof typeof classes], methodsOf(objectClass));
    lateInTurn(objectClass.prototype, "alarm", (object) => object);
    for (const frame of ["webSocketMessage", "webSocketClose"]) {
      lateInTurn(objectClass.prototype, frame, (_object, socket) => socket as object);
    }
  }
  for (const name of BUCKETS) for (const method of BUCKET_METHODS) late(env[name], method);
  late(env.DB, "batch");
  for (const method of STATEMENT_METHODS) late(Object.getPrototypeOf(env.DB.prepare("select 1")), method);
  disturbNetworks();
  disturbTimers();
}

/** The delays of the test file that begins now. */
export function beginFile(file: string): void {
  const settings = settingsOf(env.TEST_JITTER);
  delays = settings && new Delays(settings.mode, settings.seed, file.slice(file.lastIndexOf("/test/")));
}

async function pause(kind?: string): Promise<void> {
  const ms = delays?.next(kind) ?? 0;
  if (ms > 0) await plain.wait(ms);
}

/** @param kind of call, if it can be held */
function delayed(run: Run, kind?: string): Run {
  return async function (...given) {
    await pause(kind && `to ${kind}`);
    const answer = await run.apply(this, given);
    await pause(kind && `from ${kind}`);
    return answer;
  };
}

function late(owner: object, method: string): void {
  const own = Reflect.get(owner, method) as Run;
  Object.defineProperty(owner, method, { value: delayed(own), configurable: true, writable: true });
}

/** Calls of one object or socket: how many came, how many have begun, and when the last one may begin. */
interface Turns {
  came: number;
  begun: number;
  at: number;
}

const turnsOf = new WeakMap<object, Turns>();
/** A call that was lost with its object holds up the next one for this long at most. */
const LOST_MS = 2_000;

/** Each call waits for its turn behind those of the same `of`, as frames of a socket and alarms of an object do. */
function lateInTurn(prototype: object, method: string, of: (object: object, ...given: Any[]) => object): void {
  const own = Reflect.get(prototype, method) as Run | undefined;
  if (!own) return;
  const value = async function (this: object, ...given: Any[]) {
    const key = of(this, ...given);
    const turns = turnsOf.get(key) ?? { came: 0, begun: 0, at: 0 };
    turnsOf.set(key, turns);
    const before = turns.came++;
    const now = performance.now();
    turns.at = Math.max(now + (delays?.next() ?? 0), turns.at);
    const lostAt = turns.at + LOST_MS;
    if (turns.at > now) await plain.wait(Math.ceil(turns.at - now));
    // On a busy machine a wait ends late, and a later call may have none. It looks, because one call can't await a promise
    // of another.
    while (turns.begun < before && performance.now() < lostAt) await plain.wait(1);
    turns.begun = Math.max(turns.begun, before + 1);
    return own.apply(this, given);
  };
  Object.defineProperty(prototype, method, { value, configurable: true, writable: true });
}

/** The methods of a class of objects that others may call. */
function methodsOf(objectClass: { prototype: object }): string[] {
  const names = new Set<string>();
  for (let from = objectClass.prototype; from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
      if (typeof value === "function" && name !== "constructor") names.add(name);
    }
  }
  return [...names];
}

/** A stub stays the runtime's own, because tests hand it to the runtime; only its methods are others. */
function disturbCalls(name: string, namespace: Any, methods: readonly string[]): void {
  const own = namespace.getByName.bind(namespace) as Run;
  namespace.getByName = (...given: Any[]) => {
    const stub = own(...given);
    const wrapped = methods.map(
      (method) => [method, delayed((...values) => own(...given)[method](...values), `${name}.${method}`)] as const,
    );
    for (const [method, value] of wrapped) Object.defineProperty(stub, method, { value, configurable: true });
    const fetch = delayed((...values) => own(...given).fetch(...values));
    const value = (...values: Any[]) =>
      HELPER in (values[1]?.cf ?? {}) ? own(...given).fetch(...values) : fetch(...values);
    Object.defineProperty(stub, "fetch", { value, configurable: true });
    return stub;
  };
}

function disturbNetworks(): void {
  const stubGlobal = vi.stubGlobal.bind(vi);
  vi.stubGlobal = (name, value) => stubGlobal(name, name === "fetch" ? delayed(value as Run) : value);
}

function disturbTimers(): void {
  // As it is now, not as it was at the import: by now it ends timers with their file.
  const start = globalThis.setTimeout;
  globalThis.setTimeout = ((run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
    start(run, delays?.timer(ms) ?? ms, ...given)) as typeof setTimeout;
  Object.defineProperty(scheduler, "wait", {
    value: (ms: number, options?: SchedulerWaitOptions) => plain.wait(delays?.timer(ms) ?? ms, options),
    configurable: true,
    writable: true,
  });
}
