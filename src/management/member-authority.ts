import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { members } from "../db/schema.ts";
import type { Authority } from "../keys/key-authority.ts";
import { ApiError } from "../model/error.ts";
import type { Permission } from "../model/permission.ts";

type Member = typeof members.$inferSelect;

/** A member without a sign-in link. */
export const NO_LINK = { signInHash: null, signInUntil: null, signInBy: null } as const;

/**
 * Checks that a member has only permissions that the key or member that manages it has too.
 * @throws ApiError `permission_denied`
 */
export function checkWithin({ power }: Authority, permissions: readonly Permission[]): void {
  if (power.draftsOnly && permissions.includes("messages:send")) {
    const text = "The member has or gets the permission messages:send, which an API key with draftsOnly can't give";
    throw new ApiError("permission_denied", { text });
  }
  const lacked = [...new Set(permissions)].filter((permission) => !power.permissions.includes(permission));
  if (lacked.length === 0) return;
  const text = `The member has or gets permissions that you lack: ${lacked.join(", ")}. Ask someone who has them`;
  throw new ApiError("permission_denied", { text });
}

/**
 * A condition for a change of a member: another one can manage members. Undefined if the change needs none.
 * @param after the member's permissions after the change
 */
export function otherManager(
  { id, organizationId, permissions }: Member,
  after: readonly Permission[],
): SQL | undefined {
  if (!permissions.includes("members:write") || after.includes("members:write")) return undefined;
  return sql`exists (select 1 from members other where other.organization_id = ${organizationId} and other.id <> ${id}
    and exists (select 1 from json_each(other.permissions) where value = 'members:write'))`;
}

/** @param other of `otherManager` @throws ApiError `last_manager` */
export async function refuseIfLastManager(db: Directory, { organizationId }: Member, other: SQL): Promise<void> {
  const found = await db
    .select({ id: members.id })
    .from(members)
    .where(and(eq(members.organizationId, organizationId), other))
    .get();
  if (found) return;
  const text =
    "The organization would have no member left who can manage members. Give another one members:write first";
  throw new ApiError("last_manager", { text });
}
