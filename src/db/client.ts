import { drizzle } from "drizzle-orm/d1";

/** The directory: D1 through Drizzle. What belongs together goes in one `batch`, which is one transaction. */
export function directory(env: Env) {
  return drizzle(env.DB, { casing: "snake_case" });
}

export type Directory = ReturnType<typeof directory>;

/**
 * Whether an error says that D1 did not answer (lost, overloaded, reset), as against an answer that a statement was
 * wrong, which SQLite's own codes tell.
 * @see https://developers.cloudflare.com/d1/observability/debug-d1/
 */
export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message.startsWith("D1_ERROR")) return !/SQLITE_(?!BUSY|FULL|IOERR|NOMEM)/.test(cause.message);
  }
  return false;
}
