import { and, asc, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { type Directory, directory } from "../db/client.ts";
import { members, organizations } from "../db/schema.ts";
import { emailFromAccess, isOperatorEmail, lowerCase } from "./access.ts";
import type { Claims } from "./claims.ts";

type Member = typeof members.$inferSelect;
type Organization = typeof organizations.$inferSelect;
type MemberPerson = { kind: "member"; member: Member; organization: Organization };

/** Who is signed in. */
export type Person = { kind: "operator" } | MemberPerson;

/** No person is a member of so many organizations. */
const MAX_CHOICES = 100;

/**
 * The person of a session, as the directory has it now; null if the session does not count any more.
 * @param accessToken the request's token of Cloudflare Access, if it has one. A session that began with Access counts
 *   only for requests for which Access vouches for the same person.
 */
export async function personOf(env: Env, claims: Claims, accessToken: string | undefined): Promise<Person | null> {
  const { email } = claims;
  if (email !== null && (await emailFromAccess(env, accessToken)) !== email) return null;
  if (claims.kind === "operator") return email === null || isOperatorEmail(env, email) ? { kind: "operator" } : null;
  const person = await findMember(directory(env), claims.memberId);
  if (!person || claims.iat <= person.member.sessionsSince) return null;
  if (email !== null && lowerCase(person.member.email ?? "") !== email) return null;
  return person;
}

/** A member of an organization that is not being deleted. */
export async function findMember(db: Directory, id: string): Promise<MemberPerson | null> {
  const row = await db
    .select({ member: members, organization: organizations })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(eq(members.id, id), isNull(organizations.erasingAt)))
    .get();
  return row ? { kind: "member", ...row } : null;
}

/**
 * The members with an email in lower case, in organizations that are not being deleted.
 * @param memberId the only member to look for. Other organizations can give the same email to any number of members
 */
export async function findMembersByEmail(db: Directory, email: string, memberId?: string): Promise<MemberPerson[]> {
  const isAsked = memberId === undefined ? undefined : eq(members.id, memberId);
  const hasEmail = and(isNotNull(members.email), sql`lower(${members.email}) = ${email}`);
  const rows = await db
    .select({ member: members, organization: organizations })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(isAsked, hasEmail, isNull(organizations.erasingAt)))
    .orderBy(asc(organizations.name), asc(members.id))
    .limit(MAX_CHOICES);
  return rows.map((row) => ({ kind: "member", ...row }));
}

/** An organization that is not being deleted. */
export async function findActiveOrganization(db: Directory, id: string): Promise<Organization | null> {
  const isActive = and(eq(organizations.id, id), isNull(organizations.erasingAt));
  return (await db.select().from(organizations).where(isActive).get()) ?? null;
}
