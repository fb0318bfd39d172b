import { and, eq, exists, ne, type SQL, sql } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { members, passkeys } from "../db/schema.ts";
import type { Actor } from "../keys/scope.ts";

/**
 * A statement that deletes a member's passkeys, but for the one with which the actor signed in, if that is the member's.
 * It belongs into one batch with the change that makes it necessary, and before it, with the same condition.
 */
export function forgetPasskeys(db: Directory, { passkeyId }: Actor, memberId: string, isChanged: SQL | undefined) {
  const isIt = and(eq(passkeys.memberId, memberId), passkeyId === undefined ? undefined : ne(passkeys.id, passkeyId));
  return db.delete(passkeys).where(and(isIt, exists(db.select({ id: members.id }).from(members).where(isChanged))));
}

/** What a change of a member's passkeys sets in the member's row. It belongs into one batch with that change, after it. */
export function countOfPasskeys(): { passkeys: SQL } {
  return { passkeys: sql`(select count(*) from ${passkeys} where ${passkeys.memberId} = ${members.id})` };
}
