import { and, asc, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { members, organizations } from "../db/schema.ts";

/** What the console reads of members in the directory. */
interface MemberRows {
  member: typeof members.$inferSelect;
  organization: typeof organizations.$inferSelect;
}

/** More organizations than any person is a member of. */
export const MAX_CHOICES = 100;
export const MAX_OF_ORGANIZATION = 3;

/** A member of an organization that is not being deleted. */
export async function findMember(db: Directory, id: string): Promise<MemberRows | null> {
  const row = await db
    .select({ member: members, organization: organizations })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(eq(members.id, id), isNull(organizations.erasingAt)))
    .get();
  return row ?? null;
}

/**
 * The members with an email in lower case, in organizations that are not being deleted. Organizations take turns, so that
 * one that gives somebody's email to many members hides no other organization's.
 * @param memberId the only member to look for
 */
export async function findMembersByEmail(db: Directory, email: string, memberId?: string): Promise<MemberRows[]> {
  const isAsked = memberId === undefined ? undefined : eq(members.id, memberId);
  const hasEmail = and(isNotNull(members.email), sql`lower(${members.email}) = ${email}`);
  const place = sql<number>`row_number() over (
    partition by ${members.organizationId} order by ${members.createdAt}, ${members.id})`;
  const rows = await db
    .select({ member: members, organization: organizations, place })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(isAsked, hasEmail, isNull(organizations.erasingAt)))
    .orderBy(place, asc(organizations.createdAt), asc(organizations.id))
    .limit(MAX_CHOICES);
  return rows.filter((row) => row.place <= MAX_OF_ORGANIZATION);
}

/** An organization that is not being deleted. */
export async function findActiveOrganization(
  db: Directory,
  id: string,
): Promise<typeof organizations.$inferSelect | null> {
  const isActive = and(eq(organizations.id, id), isNull(organizations.erasingAt));
  return (await db.select().from(organizations).where(isActive).get()) ?? null;
}
