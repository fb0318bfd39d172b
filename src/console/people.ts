import { and, eq, isNull } from "drizzle-orm";
import { type Directory, directory } from "../db/client.ts";
import { members, organizations } from "../db/schema.ts";
import type { Claims } from "./claims.ts";

type Member = typeof members.$inferSelect;
type Organization = typeof organizations.$inferSelect;

/** Who is signed in. */
export type Person = { kind: "operator" } | { kind: "member"; member: Member; organization: Organization };

/** The person of a session, as the directory has it now; null if the session does not count any more. */
export async function personOf(env: Env, claims: Claims): Promise<Person | null> {
  if (claims.kind === "operator") return { kind: "operator" };
  const person = await findMember(directory(env), claims.memberId);
  if (!person || claims.iat <= person.member.sessionsSince) return null;
  return person;
}

/** A member of an organization that is not being deleted. */
export async function findMember(db: Directory, id: string): Promise<(Person & { kind: "member" }) | null> {
  const row = await db
    .select({ member: members, organization: organizations })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(eq(members.id, id), isNull(organizations.erasingAt)))
    .get();
  return row ? { kind: "member", ...row } : null;
}

/** An organization that is not being deleted. */
export async function findActiveOrganization(db: Directory, id: string): Promise<Organization | null> {
  const isActive = and(eq(organizations.id, id), isNull(organizations.erasingAt));
  return (await db.select().from(organizations).where(isActive).get()) ?? null;
}
