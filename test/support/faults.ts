import { env } from "cloudflare:workers";
import { vi } from "vitest";

/**
 * How D1's binding throws an outage. `bare`: the connection broke before a response arrived, and the platform's error
 * comes as it is. `prefixed`: a response arrived, and was cut off or says that D1 failed.
 */
export const OUTAGES = ["bare", "prefixed"] as const;
export type Outage = (typeof OUTAGES)[number];

const LOST = "Network connection lost.";

/** An error as D1's binding throws it in an outage. `more` ends its message. */
export function outageError(outage: Outage, more = ""): Error {
  const text = `${LOST}${more}`;
  if (outage === "bare") return Object.assign(new Error(text), { retryable: true });
  return new Error(`D1_ERROR: ${text}`, { cause: new Error(text) });
}

/**
 * What the call of an object throws. Without a number every call fails because the connection is lost: the platform
 * lets such a call be repeated, and the repetition fails too. A single call fails in a way that is not repeated.
 */
const unreachable = () => Object.assign(new Error(LOST), { retryable: true });
const brokeOff = () => new Error("internal error; reference = 0123456789abcdef");

type Objects = "KEYS" | "CHATS" | "CHANNELS";

/**
 * Lets calls of one method of a namespace's objects fail, as if the object could not be reached: those whose number,
 * from 1 on, `fails` picks, or all. `vi.restoreAllMocks()` ends it.
 */
export function breakObjects(namespace: Objects, method: string, fails?: (call: number) => boolean): void {
  const objects = env[namespace] as unknown as { getByName(name: string, options?: object): object };
  const getByName = objects.getByName.bind(objects);
  let calls = 0;
  vi.spyOn(objects, "getByName").mockImplementation((name, options) => {
    const stub = getByName(name, options);
    return new Proxy(stub, {
      get(target, property) {
        if (property !== method) return Reflect.get(target, property, target);
        if (!fails) return () => Promise.reject(unreachable());
        if (fails(++calls)) return () => Promise.reject(brokeOff());
        return Reflect.get(target, property, target);
      },
    });
  });
}

/** Takes the directory down: every statement fails. `vi.restoreAllMocks()` brings it back. */
export function breakDirectory(outage: Outage): void {
  const down = () => Promise.reject(outageError(outage));
  for (const method of ["all", "run", "raw", "first"] as const) vi.spyOn(statements, method).mockImplementation(down);
  vi.spyOn(env.DB, "batch").mockImplementation(down);
}

/** Lets the directory's statements that `pattern` fits fail, those of a batch aside. */
export function breakStatements(outage: Outage, pattern: RegExp): void {
  for (const method of ["all", "run", "raw", "first"] as const) {
    const original = Reflect.get(statements, method) as unknown as (...options: unknown[]) => Promise<unknown>;
    const broken = function broken(this: D1PreparedStatement & { statement: string }, ...options: unknown[]) {
      return pattern.test(this.statement) ? Promise.reject(outageError(outage)) : original.apply(this, options);
    };
    vi.spyOn(statements, method).mockImplementation(broken as never);
  }
}

/** Runs `before` once before and `after` once after the first call of one method of a namespace's objects. */
export function aroundCall(
  namespace: Objects,
  method: string,
  { before, after }: { before?: () => unknown; after?: () => unknown },
): void {
  const objects = env[namespace] as unknown as { getByName(name: string, options?: object): object };
  const getByName = objects.getByName.bind(objects);
  let isFirst = true;
  vi.spyOn(objects, "getByName").mockImplementation((name, options) => {
    const stub = getByName(name, options);
    return new Proxy(stub, {
      get(target, property) {
        if (property !== method || !isFirst) return Reflect.get(target, property, target);
        isFirst = false;
        return async (...given: unknown[]) => {
          await before?.();
          const answer = await (target as Record<string, (...given: unknown[]) => unknown>)[method]?.(...given);
          await after?.();
          return answer;
        };
      },
    });
  });
}

/**
 * Puts `around` about each of the directory's queries that Drizzle makes outside a batch; it is given the query's
 * number, from 1 on, and what runs it.
 */
export function aroundQueries(around: (query: number, run: () => Promise<unknown>) => Promise<unknown>): void {
  const raw = Reflect.get(statements, "raw") as unknown as (...options: unknown[]) => Promise<unknown>;
  let queries = 0;
  const query = function query(this: D1PreparedStatement, ...options: unknown[]) {
    return around(++queries, () => raw.apply(this, options));
  };
  vi.spyOn(statements, "raw").mockImplementation(query as never);
}

/** Does something right before the directory's next statement that Drizzle makes for no rows. */
export function beforeNextRun(first: () => Promise<unknown>): void {
  const run = Reflect.get(statements, "run") as unknown as (...options: unknown[]) => Promise<unknown>;
  const late = async function late(this: D1PreparedStatement, ...options: unknown[]) {
    await first();
    return run.apply(this, options);
  };
  vi.spyOn(statements, "run").mockImplementationOnce(late as never);
}

/** Statements for no rows that `pattern` fits are carried out, and their answers lost. `vi.restoreAllMocks()` ends it. */
export function loseAnswers(outage: Outage, pattern: RegExp): void {
  const run = Reflect.get(statements, "run") as unknown as (...options: unknown[]) => Promise<unknown>;
  const lost = async function lost(this: D1PreparedStatement & { statement: string }, ...options: unknown[]) {
    const answer = await run.apply(this, options);
    if (pattern.test(this.statement)) throw outageError(outage);
    return answer;
  };
  vi.spyOn(statements, "run").mockImplementation(lost as never);
}

/** Each write of the directory is made, and its answer lost. `vi.restoreAllMocks()` ends it. */
export function loseWrites(outage: Outage): void {
  type Statement = D1PreparedStatement & { statement: string };
  const isWrite = ({ statement }: Statement) => /^\s*(insert|update|delete)/i.test(statement);
  for (const method of ["all", "run", "raw", "first"] as const) {
    const original = Reflect.get(statements, method) as unknown as (...options: unknown[]) => Promise<unknown>;
    const lost = async function lost(this: Statement, ...options: unknown[]) {
      const answer = await original.apply(this, options);
      if (isWrite(this)) throw outageError(outage);
      return answer;
    };
    vi.spyOn(statements, method).mockImplementation(lost as never);
  }
  const batch = env.DB.batch.bind(env.DB);
  vi.spyOn(env.DB, "batch").mockImplementation(async (given) => {
    const answers = await batch(given);
    if ((given as Statement[]).some(isWrite)) throw outageError(outage);
    return answers as never;
  });
}

/** Counts the round trips to the directory from here on. */
export function countRoundTrips(): () => number {
  const spies = [
    vi.spyOn(env.DB, "batch"),
    ...(["all", "run", "raw", "first"] as const).map((method) => vi.spyOn(statements, method)),
  ];
  return () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
}

/** Watches how many calls of one method of a namespace's objects, and batches of the directory, are under way at once. */
export function watchUnderWay(namespace: Objects, method: string): () => number {
  const objects = env[namespace] as unknown as { getByName(name: string, options?: object): object };
  const getByName = objects.getByName.bind(objects);
  const batch = env.DB.batch.bind(env.DB);
  let underWay = 0;
  let most = 0;
  const watched = async <T>(run: () => Promise<T>): Promise<T> => {
    most = Math.max(most, ++underWay);
    try {
      return await run();
    } finally {
      underWay--;
    }
  };
  vi.spyOn(env.DB, "batch").mockImplementation((statements) => watched(() => batch(statements)));
  vi.spyOn(objects, "getByName").mockImplementation((name, options) => {
    return new Proxy(getByName(name, options), {
      get(target, property) {
        if (property !== method) return Reflect.get(target, property, target);
        const call = (target as Record<string, (...given: unknown[]) => Promise<unknown>>)[method];
        return (...given: unknown[]) => watched(async () => call?.(...given));
      },
    });
  });
  return () => most;
}

const statements: D1PreparedStatement = Object.getPrototypeOf(env.DB.prepare("select 1"));
