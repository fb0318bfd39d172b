import { and, eq, exists, ne, type SQL, sql } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { members, passkeys } from "../db/schema.ts";

/**
 * A statement that deletes a member's passkeys. It belongs into one batch with the change that makes it necessary, and
 * before it, with the same condition.
 * @param kept the one that stays, such as that with which whoever makes the change signed in
 */
export function forgetPasskeys(db: Directory, kept: string | undefined, memberId: string, isChanged: SQL | undefined) {
  const isIt = and(eq(passkeys.memberId, memberId), kept === undefined ? undefined : ne(passkeys.id, kept));
  return db.delete(passkeys).where(and(isIt, exists(db.select({ id: members.id }).from(members).where(isChanged))));
}

/** What a change of a member's passkeys sets in the member's row. It belongs into one batch with that change, after it. */
export function countOfPasskeys(): { passkeys: SQL } {
  return { passkeys: sql`(select count(*) from ${passkeys} where ${passkeys.memberId} = ${members.id})` };
}
