import { eq, lte, notExists } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { usedCodes } from "../db/schema.ts";
import { hashOfLink } from "../management/sign-in-link.ts";

/**
 * For how long a used code is kept after its end. A request that came before its end may still wait for the directory,
 * at most 30 seconds, and must find it used.
 */
const KEPT_MS = 60_000;

/**
 * The use of an operator's code or of a passkey's challenge, for a batch: it counts once in all isolates.
 * @param until when the code ends, Unix milliseconds
 */
export async function useOf(db: Directory, code: string, until: number, now: number) {
  const hash = await hashOfLink(code);
  const isUsed = eq(usedCodes.hash, hash);
  return {
    isUsed,
    /** A condition for what comes before `statements` in the batch. */
    isUnused: notExists(db.select({ hash: usedCodes.hash }).from(usedCodes).where(isUsed)),
    /** They delete old codes, and return a row if this one was unused. */
    statements: [
      db.delete(usedCodes).where(lte(usedCodes.until, now - KEPT_MS)),
      db.insert(usedCodes).values({ hash, until }).onConflictDoNothing().returning(),
    ] as const,
  };
}
