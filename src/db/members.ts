import { and, eq, inArray } from "drizzle-orm";
import type { Permission } from "../model/permission.ts";
import { directory } from "./client.ts";
import { members } from "./schema.ts";

/** Whether an organization has a member now, by the directory itself. @throws if it does not answer */
export async function hasMember(env: Env, organizationId: string, id: string): Promise<boolean> {
  const condition = and(eq(members.id, id), eq(members.organizationId, organizationId));
  return (await directory(env).select({ id: members.id }).from(members).where(condition)).length > 0;
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
