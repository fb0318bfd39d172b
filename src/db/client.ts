import { drizzle } from "drizzle-orm/d1";

/** The directory: D1 through Drizzle. What belongs together goes in one `batch`, which is one transaction. */
export function directory(env: Env) {
  return drizzle(env.DB, { casing: "snake_case" });
}

export type Directory = ReturnType<typeof directory>;
