import { and, eq, isNull } from "drizzle-orm";
import { directory } from "./client.ts";
import { organizations } from "./schema.ts";

/** An organization that is not being deleted; undefined if there is none. */
export function readOrganization(env: Env, organizationId: string) {
  return directory(env)
    .select({ id: organizations.id })
    .from(organizations)
    .where(and(eq(organizations.id, organizationId), isNull(organizations.erasingAt)))
    .get();
}
