import { env } from "cloudflare:workers";
import { vi } from "vitest";

/**
 * The form of an outage in D1's binding. `bare`: the connection was lost before a response, and the platform's error is
 * thrown unchanged. `prefixed`: a response arrived, but it was cut off or says that D1 failed.
 */
export const OUTAGES = ["bare", "prefixed"] as const;
export type Outage = (typeof OUTAGES)[number];

const LOST = "Network connection lost.";

/** An error as D1's binding throws it in an outage. `more` is appended to its message. */
export function outageError(outage: Outage, more = ""): Error {
  const text = `${LOST}${more}`;
  if (outage === "bare") return Object.assign(new Error(text), { retryable: true });
  return new Error(`D1_ERROR: ${text}`, { cause: new Error(text) });
}

/**
 * The error of a call to an object. Without a number, every call fails because the connection is lost: the platform
 * allows a repetition, which fails too. A single call fails with an error that is not repeated.
 */
const unreachable = () => Object.assign(new Error(LOST), { retryable: true });
const brokeOff = () => new Error("internal error; reference = 0123456789abcdef");

export const NAMESPACES = ["ORGANIZATIONS", "KEYS", "CHATS", "CHANNELS", "WEBHOOKS", "SEARCH_INDEXES"] as const;
type Objects = (typeof NAMESPACES)[number];

type Stub = Record<PropertyKey, unknown>;
type Method = (...given: unknown[]) => unknown;
type AsyncMethod = (...given: unknown[]) => Promise<unknown>;

/**
 * Replaces one method of a namespace's objects, or those that match. `replace` gets the object's own method.
 * `vi.restoreAllMocks()` ends it.
 * @returns a function that ends it too
 */
export function replaceMethod(
  namespace: Objects,
  method: string | RegExp,
  replace: (original: Method) => Method,
): () => void {
  const objects = env[namespace] as unknown as { getByName(name: string, options?: object): object };
  const getByName = objects.getByName.bind(objects);
  const spy = vi.spyOn(objects, "getByName").mockImplementation((name, options) => {
    return new Proxy(getByName(name, options) as Stub, {
      get(target, property) {
        const own = Reflect.get(target, property, target);
        return isNamed(property, method) ? replace((...given) => (own as Method)(...given)) : own;
      },
    });
  });
  return () => spy.mockRestore();
}

function isNamed(property: PropertyKey, method: string | RegExp): boolean {
  return typeof method === "string" ? property === method : method.test(String(property));
}

/**
 * Makes calls to one method of a namespace's objects fail, as if the object could not be reached: those whose number,
 * starting at 1, `fails` selects, or all. `vi.restoreAllMocks()` ends it.
 * @returns a function that ends it too
 */
export function breakObjects(
  namespace: Objects,
  method: string | RegExp,
  fails?: (call: number) => boolean,
): () => void {
  let calls = 0;
  return replaceMethod(namespace, method, (original) => {
    if (!fails) return () => Promise.reject(unreachable());
    return fails(++calls) ? () => Promise.reject(brokeOff()) : original;
  });
}

/**
 * Breaks one method of single objects, by their names: from here on each call fails as if the object could not be
 * reached, or by a fault of its own code, or never ends. `vi.restoreAllMocks()` ends it.
 * @returns how many calls were made
 */
export function breakObject(
  namespace: Objects,
  names: string | readonly string[],
  method: string,
  how: "fails" | "throws" | "hangs" = "fails",
): () => number {
  const objects = env[namespace] as unknown as { getByName(name: string, options?: object): object };
  const getByName = objects.getByName.bind(objects);
  const broken = {
    fails: () => Promise.reject(unreachable()),
    throws: () => Promise.reject(Object.assign(new Error("A fault of the object"), { remote: true })),
    hangs: () => new Promise(() => {}),
  }[how];
  let calls = 0;
  vi.spyOn(objects, "getByName").mockImplementation((name, options) => {
    const stub = getByName(name, options) as Stub;
    if (![names].flat().includes(name)) return stub;
    return new Proxy(stub, {
      get(target, property) {
        if (property !== method) return Reflect.get(target, property, target);
        return () => {
          calls++;
          return broken();
        };
      },
    });
  });
  return () => calls;
}

/**
 * From here on, a key's object only responds after an object of `namespace` was called, so a request that calls one
 * after the other hangs.
 */
export function admitAfter(namespace: "CHATS" | "ORGANIZATIONS"): void {
  const { promise: called, resolve } = Promise.withResolvers<void>();
  const objects = env[namespace] as unknown as { getByName(name: string, options?: object): object };
  const getByName = objects.getByName.bind(objects);
  vi.spyOn(objects, "getByName").mockImplementation((name, options) => {
    resolve();
    return getByName(name, options);
  });
  replaceMethod(
    "KEYS",
    "admit",
    (original) =>
      (...asked) =>
        called.then(() => original(...asked)),
  );
}

/** Starts an outage of the directory: every statement fails. `vi.restoreAllMocks()` ends it. */
export function breakDirectory(outage: Outage): void {
  const down = () => Promise.reject(outageError(outage));
  for (const method of METHODS) vi.spyOn(statements, method).mockImplementation(down);
  vi.spyOn(env.DB, "batch").mockImplementation(down);
}

type Statement = D1PreparedStatement & { statement: string };
const METHODS = ["all", "run", "raw", "first"] as const;

/** Replaces methods of the directory's statements. `replace` gets the statement and the original method. */
function replaceStatements(
  methods: readonly (typeof METHODS)[number][],
  replace: (statement: Statement, run: () => Promise<unknown>) => Promise<unknown>,
): void {
  for (const method of methods) {
    const original = Reflect.get(statements, method) as unknown as (...options: unknown[]) => Promise<unknown>;
    const replaced = function replaced(this: Statement, ...options: unknown[]) {
      return replace(this, () => original.apply(this, options));
    };
    vi.spyOn(statements, method).mockImplementation(replaced as never);
  }
}

/** Makes the directory's statements that match `pattern` fail, except in batches. */
export function breakStatements(outage: Outage, pattern: RegExp): void {
  replaceStatements(METHODS, ({ statement }, run) =>
    pattern.test(statement) ? Promise.reject(outageError(outage)) : run(),
  );
}

/** Counts the calls to one method of a namespace's objects from here on. */
export function countCalls(namespace: Objects, method: string): () => number {
  let calls = 0;
  replaceMethod(namespace, method, (original) => (...given) => {
    calls++;
    return original(...given);
  });
  return () => calls;
}

/** Runs `before` before and `after` after the first call to one method of a namespace's objects. */
export function aroundCall(
  namespace: Objects,
  method: string,
  { before, after }: { before?: () => unknown; after?: () => unknown },
): void {
  let isFirst = true;
  replaceMethod(namespace, method, (original) => {
    if (!isFirst) return original;
    isFirst = false;
    return async (...given) => {
      await before?.();
      const answer = await original(...given);
      await after?.();
      return answer;
    };
  });
}

/**
 * Wraps each Drizzle query to the directory outside a batch in `around`, which gets the query's number, starting at 1,
 * and a function that runs it.
 */
export function aroundQueries(around: (query: number, run: () => Promise<unknown>) => Promise<unknown>): void {
  let queries = 0;
  replaceStatements(["raw"], (_statement, run) => around(++queries, run));
}

/** Counts the round trips to the directory from here on. */
export function countRoundTrips(): () => number {
  const spies = [vi.spyOn(env.DB, "batch"), ...METHODS.map((method) => vi.spyOn(statements, method))];
  return () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
}

/**
 * Counts the calls to objects, and the round trips to D1, from here on.
 * @returns a function that returns what was counted since its last call, without zeros
 */
export function countHops(): () => Partial<Record<Objects | "DB", number>> {
  const roundTrips = countRoundTrips();
  const spies = NAMESPACES.map((namespace) =>
    vi.spyOn(env[namespace] as { getByName(name: string): unknown }, "getByName"),
  );
  const total = () => [...spies.map((spy) => spy.mock.calls.length), roundTrips()];
  let before = total();
  return () => {
    const now = total();
    const since = now.map((count, index) => count - (before[index] ?? 0));
    before = now;
    const named = [...NAMESPACES, "DB" as const].map((name, index) => [name, since[index]] as const);
    return Object.fromEntries(named.filter(([, count]) => count !== 0));
  };
}

/**
 * The calls to objects and the writes to the directory from here on, in order. `vi.restoreAllMocks()` ends it.
 * @param changed replaces a method of the organizations' objects
 */
export function watchSteps(changed: Record<string, (original: AsyncMethod) => AsyncMethod> = {}): string[] {
  const steps: string[] = [];
  for (const namespace of NAMESPACES) {
    const objects = env[namespace] as unknown as { getByName(name: string, options?: object): object };
    const getByName = objects.getByName.bind(objects);
    vi.spyOn(objects, "getByName").mockImplementation((name, options) => {
      return new Proxy(getByName(name, options), {
        get(target, property) {
          const name = String(property);
          steps.push(`${namespace}.${name}`);
          const own = Reflect.get(target, property, target) as AsyncMethod;
          const change = namespace === "ORGANIZATIONS" ? changed[name] : undefined;
          return change ? change((...given) => own(...given)) : own;
        },
      });
    });
  }
  const prepare = env.DB.prepare.bind(env.DB);
  vi.spyOn(env.DB, "prepare").mockImplementation((statement) => {
    if (/^\s*(insert|update|delete)/i.test(statement)) steps.push("DB write");
    return prepare(statement);
  });
  return steps;
}

/** Records the maximum number of concurrent calls to methods of objects, all of them together. */
export function watchUnderWay(...methods: [namespace: Objects, method: string][]): () => number {
  let underWay = 0;
  let most = 0;
  const watched = async <T>(run: () => T | Promise<T>): Promise<T> => {
    most = Math.max(most, ++underWay);
    try {
      return await run();
    } finally {
      underWay--;
    }
  };
  for (const [namespace, method] of methods) {
    replaceMethod(
      namespace,
      method,
      (original) =>
        (...given) =>
          watched(() => original(...given)),
    );
  }
  return () => most;
}

const statements: D1PreparedStatement = Object.getPrototypeOf(env.DB.prepare("select 1"));
