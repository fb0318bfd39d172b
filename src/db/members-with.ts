import { and, eq, inArray } from "drizzle-orm";
import type { Permission } from "../model/permission.ts";
import { directory } from "./client.ts";
import { members } from "./schema.ts";

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
