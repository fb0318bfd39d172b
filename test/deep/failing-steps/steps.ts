import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { NAMESPACES, outageError } from "../../support/faults.ts";

/** The text of an injected error, which no client may see. */
export const CAUSE = "canary-of-the-cause";

/**
 * `unmade`: the step fails without an effect. `unanswered`: the step takes effect, and its response is lost. `cut off`:
 * the same for a statement, after the response began. `repeatable`: the same for a call to an object, which the
 * platform allows to be repeated.
 */
export type Failure = "unmade" | "unanswered" | "cut off" | "repeatable";

/** What takes a step: a statement or batch of the directory, an object's storage, or a call to an object. */
type Owner = "directory" | "storage" | "call";

/** A step that can fail: the `nth` with its name, starting at 1, since the recording began. */
export interface Step {
  owner: Owner;
  name: string;
  nth: number;
}

/** The ways a step can fail. The result of an object's storage is never in doubt. */
export function failuresOf({ owner }: Step): Failure[] {
  if (owner === "storage") return ["unmade"];
  return owner === "directory" ? ["unmade", "unanswered", "cut off"] : ["unmade", "unanswered", "repeatable"];
}

export interface Watch {
  /** Every step since the recording began, in order. */
  steps: Step[];
  /** Whether the chosen step has failed. */
  reached(): boolean;
  end: () => void;
}

type Method = (...given: unknown[]) => unknown;
type Methods = Record<string, Method>;

const STATEMENT = ["all", "run", "raw", "first"];
const STORAGE = ["getAlarm", "setAlarm", "deleteAlarm", "deleteAll", "transactionSync"];

let isQuiet = false;

/** What a test itself does synchronously is not a step. */
export function unwatched<T>(run: () => T): T {
  isQuiet = true;
  try {
    return run();
  } finally {
    isQuiet = false;
  }
}

/** Records each step from here on, and makes one of them fail. */
export async function watchSteps(failing?: { name: string; nth: number; failure: Failure }): Promise<Watch> {
  const steps: Step[] = [];
  let isReached = false;
  const undo: (() => void)[] = [];

  const take = (owner: Owner, name: string, run: () => unknown): unknown => {
    if (isQuiet) return run();
    const nth = steps.filter((step) => step.name === name).length + 1;
    steps.push({ owner, name, nth });
    if (failing?.name !== name || failing.nth !== nth) return run();
    isReached = true;
    const error = errorOf(owner, failing.failure);
    if (failing.failure === "unmade") {
      if (owner === "storage" && !/alarm|deleteAll/i.test(name)) throw error;
      return Promise.reject(error);
    }
    return Promise.resolve(run()).then(() => Promise.reject(error));
  };
  const put = (target: object, method: string, around: (original: Method) => Method) => {
    const methods = target as Methods;
    const isOwn = Object.hasOwn(methods, method);
    const original = methods[method] as Method;
    methods[method] = around(original);
    undo.push(() => {
      if (isOwn) methods[method] = original;
      else delete methods[method];
    });
  };
  const watch = (owner: Owner, target: object, method: string, nameOf: (self: unknown, given: unknown[]) => string) =>
    put(target, method, (original) => {
      return function watched(this: unknown, ...given: unknown[]) {
        return take(owner, nameOf(this, given), () => original.apply(this, given));
      };
    });

  const { sql, kv, storage } = await prototypes();
  const sqlOf = (self: unknown) => words((self as { statement: string }).statement);
  for (const method of STATEMENT) watch("directory", statements, method, (self) => `D1 ${sqlOf(self)}`);
  watch("directory", database, "batch", (_, [batch]) => `D1 batch: ${(batch as unknown[]).map(sqlOf).join("; ")}`);
  watch("storage", sql, "exec", (_, [statement]) => words(String(statement)));
  for (const method of ["get", "put", "delete", "list"]) {
    watch(
      "storage",
      kv,
      method,
      (_, [key]) => `kv.${method} ${typeof key === "string" ? key.split(":")[0] : "prefix"}`,
    );
  }
  for (const method of STORAGE) watch("storage", storage, method, () => method);
  for (const namespace of NAMESPACES) {
    put(env[namespace], "getByName", (original) => (...named) => {
      const stub = original.apply(env[namespace], named) as Methods;
      if (isQuiet) return stub;
      return new Proxy(stub, {
        get(target, property) {
          const method = Reflect.get(target, property, target);
          if (typeof method !== "function" || typeof property !== "string") return method;
          return (...given: unknown[]) =>
            take("call", `${namespace}.${property}`, () => Reflect.apply(method, target, given));
        },
      });
    });
  }
  const end = () => {
    for (const back of undo.splice(0)) back();
  };
  return { steps, reached: () => isReached, end };
}

function errorOf(owner: Owner, failure: Failure): Error {
  if (owner === "directory") return outageError(failure === "cut off" ? "prefixed" : "bare", ` ${CAUSE}`);
  if (owner === "storage") return new Error(`database or disk is full: ${CAUSE}: SQLITE_FULL`);
  if (failure === "repeatable")
    return Object.assign(new Error(`Network connection lost. ${CAUSE}`), { retryable: true });
  return new Error(`internal error; reference = ${CAUSE}`);
}

/** The beginning of a statement, which identifies it. The feed has a table for each day, and the tests' clock moves on. */
function words(statement: string): string {
  return statement
    .replaceAll(/--.*|["`]/g, "")
    .replaceAll(/\bfeed_\d+/g, "feed")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 60);
}

const database: object = Object.getPrototypeOf(env.DB);
const statements: object = Object.getPrototypeOf(env.DB.prepare("select 1"));

/** The prototype with the methods of all objects' storage. */
function prototypes(): Promise<{ sql: object; kv: object; storage: object }> {
  return runInDurableObject(env.KEYS.getByName("prototypes"), (_object, { storage }) => ({
    sql: Object.getPrototypeOf(storage.sql),
    kv: Object.getPrototypeOf(storage.kv),
    storage: Object.getPrototypeOf(storage),
  }));
}
