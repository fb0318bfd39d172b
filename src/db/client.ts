import { drizzle } from "drizzle-orm/d1";
import { isQuotaRefusal } from "../platform/quota.ts";

/** The directory: D1 through Drizzle. A `batch` is one transaction. */
export function directory(env: Env) {
  return drizzle(database(env), { casing: "snake_case" });
}

export type Directory = ReturnType<typeof directory>;

/** The directory for statements that Drizzle can't batch. `isOutage` works on its errors too. */
export function database(env: Env): D1Database {
  return markOutages(env.DB);
}

/**
 * Whether D1 did not answer: the connection broke, D1 is overloaded or was reset, or the account's quota is used up.
 * False if D1 rejected a statement.
 * Searches the causes of the error, and works after an RPC call.
 */
export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("directoryDown" in cause) return cause.directoryDown === true;
  }
  return false;
}

/** SQLite's codes for a statement or a value that fails every time. */
const STATEMENT_IS_WRONG = /SQLITE_(AUTH|CONSTRAINT|ERROR|MISMATCH|MISUSE|RANGE|TOOBIG)/;
/** Errors of the binding's own validation. */
const CALL_IS_WRONG = /^D1_(TYPE_ERROR|COLUMN_NOTFOUND|SESSION_ERROR)/;

/**
 * Wraps D1 so that its outages carry a mark. Their text does not identify outages: D1 prefixes an error with
 * `D1_ERROR` only if a response arrived, and a broken connection throws a platform error.
 */
function markOutages<T extends object>(target: T): T {
  return new Proxy(target, {
    get(owner, property) {
      const member: unknown = Reflect.get(owner, property, owner);
      if (typeof member !== "function") return member;
      return (...given: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, owner, given);
        if (result instanceof Promise) return result.catch(throwMarked);
        return typeof result === "object" && result !== null ? markOutages(result) : result;
      };
    },
  });
}

function throwMarked(error: unknown): never {
  if (error instanceof Error) Object.assign(error, { directoryDown: !isFault(error) });
  throw error;
}

function isFault(error: Error): boolean {
  if (isQuotaRefusal(error)) return false;
  const isOurs = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
  return isOurs || STATEMENT_IS_WRONG.test(error.message) || CALL_IS_WRONG.test(error.message);
}
