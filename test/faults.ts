import { env } from "cloudflare:workers";
import { vi } from "vitest";

/** What an object that cannot be reached throws at its caller. */
const UNREACHABLE = "Network connection lost.";
export const DIRECTORY_DOWN = "D1_ERROR: Network connection lost.";

type Objects = "KEYS" | "CHATS" | "CHANNELS";

/**
 * Lets calls of one method of a namespace's objects fail, as if the object could not be reached: those whose number,
 * from 1 on, `fails` picks. `vi.restoreAllMocks()` ends it.
 */
export function breakObjects(namespace: Objects, method: string, fails: (call: number) => boolean = () => true): void {
  const objects = env[namespace] as unknown as { getByName(name: string, options?: object): object };
  const getByName = objects.getByName.bind(objects);
  let calls = 0;
  vi.spyOn(objects, "getByName").mockImplementation((name, options) => {
    const stub = getByName(name, options);
    return new Proxy(stub, {
      get(target, property) {
        if (property === method && fails(++calls)) return () => Promise.reject(new Error(UNREACHABLE));
        return Reflect.get(target, property, target);
      },
    });
  });
}

/** Takes the directory down: every statement fails. `vi.restoreAllMocks()` brings it back. */
export function breakDirectory(): void {
  const down = () => Promise.reject(new Error(DIRECTORY_DOWN));
  for (const method of ["all", "run", "raw", "first"] as const) vi.spyOn(statements, method).mockImplementation(down);
  vi.spyOn(env.DB, "batch").mockImplementation(down);
}

/** Lets the directory's statements that `pattern` fits fail, those of a batch aside. */
export function breakStatements(pattern: RegExp): void {
  for (const method of ["all", "run", "raw", "first"] as const) {
    const original = Reflect.get(statements, method) as unknown as (...options: unknown[]) => Promise<unknown>;
    const broken = function broken(this: D1PreparedStatement & { statement: string }, ...options: unknown[]) {
      return pattern.test(this.statement) ? Promise.reject(new Error(DIRECTORY_DOWN)) : original.apply(this, options);
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
export function loseAnswers(pattern: RegExp): void {
  const run = Reflect.get(statements, "run") as unknown as (...options: unknown[]) => Promise<unknown>;
  const lost = async function lost(this: D1PreparedStatement & { statement: string }, ...options: unknown[]) {
    const answer = await run.apply(this, options);
    if (pattern.test(this.statement)) throw new Error(DIRECTORY_DOWN);
    return answer;
  };
  vi.spyOn(statements, "run").mockImplementation(lost as never);
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
