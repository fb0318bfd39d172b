import { reasonOf } from "../../command-error.ts";
import { localMigrations } from "../../local-database.ts";
import { bad, type Check, ok } from "./check.ts";

const WHAT = "migrations of the local database";

/** Checks that the database of `npm start` has all migrations. Only reads the database. */
export async function migrationsCheck(root: string, state: string): Promise<Check> {
  try {
    const { all, applied } = await localMigrations(root, state);
    if (!applied) return bad(WHAT, "unknown", `there is no database in ${state}`, "npm start creates it");
    const missing = all.filter((name) => !applied.includes(name));
    if (missing.length === 0) return ok(WHAT, `all ${all.length} applied`);
    return bad(WHAT, "fails", `not applied: ${missing.join(", ")}`, "restart npm start, which applies them");
  } catch (error) {
    return bad(WHAT, "unknown", `it can't be read (${reasonOf(error)})`, "stop npm start and run doctor again");
  }
}
