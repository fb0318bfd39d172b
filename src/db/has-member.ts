import { and, eq } from "drizzle-orm";
import { directory } from "./client.ts";
import { members } from "./schema.ts";

/** Whether an organization has a member now, by the directory itself. @throws if it does not answer */
export async function hasMember(env: Env, organizationId: string, id: string): Promise<boolean> {
  const condition = and(eq(members.id, id), eq(members.organizationId, organizationId));
  return (await directory(env).select({ id: members.id }).from(members).where(condition)).length > 0;
}
