import { and, eq, inArray } from "drizzle-orm";
import type { Permission } from "../model/permission.ts";
import { directory } from "./client.ts";
import { members } from "./schema.ts";

/**
 * What a member of an organization may do now, by the directory itself; null if there is no such member.
 * @throws if it does not answer
 */
export async function permissionsOf(
  env: Env,
  organizationId: string,
  id: string,
): Promise<readonly Permission[] | null> {
  const condition = and(eq(members.id, id), eq(members.organizationId, organizationId));
  const [row] = await directory(env).select({ permissions: members.permissions }).from(members).where(condition);
  return row?.permissions ?? null;
}

/** Which of these are members with a permission now, by the directory itself. @throws if it does not answer */
export async function membersWith(
  env: Env,
  organizationId: string,
  ids: string[],
  permission: Permission,
): Promise<Set<string>> {
  const rows = await directory(env)
    .select({ id: members.id, permissions: members.permissions })
    .from(members)
    .where(and(inArray(members.id, ids), eq(members.organizationId, organizationId)));
  return new Set(rows.filter(({ permissions }) => permissions.includes(permission)).map(({ id }) => id));
}
