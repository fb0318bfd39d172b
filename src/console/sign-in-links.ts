import { and, eq, gt, isNull, lte, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Directory, directory } from "../db/client.ts";
import { members, organizations, signIns } from "../db/schema.ts";
import { isMemberAsRead } from "../keys/key-authority.ts";
import { NO_LINK } from "../management/member-authority.ts";
import { authorityForLink, hashOfLink } from "../management/sign-in-link.ts";
import { type Actor, OPERATOR } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { isId } from "../model/id.ts";
import { MEMBER_LASTS_MS, type Subject } from "../model/session.ts";

interface Link {
  member: typeof members.$inferSelect;
  organization: typeof organizations.$inferSelect;
  /** Who made it: the id of a key or a member, or `OPERATOR`. */
  madeBy: string;
  /** A condition: the link is unused, and its maker is as it was read. */
  isAsRead: SQL | undefined;
}

/** How often a link is read again because its member or its maker was changed meanwhile. */
const MAX_TRIES = 5;

/**
 * The link of a code. Null if there is none, or if whoever made it could no longer make it: it was revoked, removed or
 * narrowed, or the member may do more now.
 */
export async function findLink(env: Env, code: string): Promise<Link | null> {
  const isIt = and(
    eq(members.id, code.split(".", 1)[0] ?? ""),
    eq(members.signInHash, await hashOfLink(code)),
    gt(members.signInUntil, Date.now()),
  );
  const row = await directory(env)
    .select({ member: members, organization: organizations })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(isIt, isNull(organizations.erasingAt)))
    .get();
  const madeBy = row?.member.signInBy;
  if (!row || !madeBy) return null;
  const { member } = row;
  try {
    const authority = await authorityForLink(env, makerOf(madeBy, member.organizationId), member);
    const isAsRead = and(isMemberAsRead(member), isIt, authority?.isAsRead);
    return { ...row, madeBy, isAsRead };
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return null;
    throw error;
  }
}

/** Uses up a member's link. Null if it is no longer valid. */
export async function takeLink(env: Env, code: string): Promise<Subject | null> {
  const db = directory(env);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const link = await findLink(env, code);
    if (!link) return null;
    const { madeBy, isAsRead } = link;
    const { id: memberId, organizationId } = link.member;
    const at = Date.now();
    const [, , taken] = await db.batch([
      db.delete(signIns).where(lte(signIns.until, at)),
      keepSignIn(db, { organizationId, madeBy, memberId, at }, members, isAsRead),
      db.update(members).set(NO_LINK).where(isAsRead).returning({ id: members.id }),
    ]);
    if (taken.length > 0) return { kind: "member", memberId, organizationId, email: null, linkBy: madeBy, usedAt: at };
  }
  return null;
}

/**
 * A statement that keeps whose link led to a session that begins now. It belongs into the batch that begins the session.
 * @param isBegun a condition: it begins, if the table has such a row
 */
export function keepSignIn(
  db: Directory,
  { at, ...signIn }: { organizationId: string; madeBy: string; memberId: string; at: number },
  table: SQLiteTable,
  isBegun: SQL | undefined,
) {
  const row = { ...signIn, at, until: at + MEMBER_LASTS_MS };
  const values = Object.entries(row).map(([field, value]) => [
    field,
    sql`${value}`.as(signIns[field as keyof typeof row].name),
  ]);
  return db
    .insert(signIns)
    .select(db.select(Object.fromEntries(values)).from(table).where(isBegun) as never)
    .onConflictDoUpdate({
      target: [signIns.organizationId, signIns.madeBy, signIns.memberId],
      set: { at, until: row.until },
    });
}

function makerOf(id: string, organizationId: string): Actor {
  const scope = { organizationId };
  if (id === OPERATOR) return { type: "operator", id, name: "Operator", scope: "any" };
  return { type: isId("key", id) ? "key" : "member", id, name: "", scope };
}
