import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { noOrganization, type Scope } from "../model/caller.ts";
import { ApiError, type ErrorCode } from "../model/error.ts";
import { ROW_CEILINGS, type RowKind } from "../model/organization.ts";
import { type Directory, directory } from "./client.ts";
import { insertIf } from "./rows.ts";
import { channels, members, organizations, templates } from "./schema.ts";

const KINDS = {
  members: { table: members, code: "member_limit" },
  templates: { table: templates, code: "template_limit" },
  channels: { table: channels, code: "channel_limit" },
} as const satisfies Record<RowKind, { table: object; code: ErrorCode }>;

/** A condition of `insertIf`: the organization has room for one more row of this kind. */
export function hasRoomForRow(kind: RowKind): SQL {
  return sql`${countOf(kind)} < ${ceilingOf(kind)}`;
}

/**
 * Inserts a row of an organization, in the statement that counts: of many requests at once, as many succeed as fit.
 * @throws ApiError `template_limit`, `channel_limit`; as `noOrganization`
 */
export async function insertWithRoom(
  env: Env,
  scope: Scope,
  kind: "templates" | "channels",
  row: typeof templates.$inferSelect | typeof channels.$inferSelect,
): Promise<void> {
  const db = directory(env);
  if (await insertIf(db, KINDS[kind].table as typeof templates, row as never, hasRoomForRow(kind))) return;
  await refuseWithoutRoom(db, kind, row.organizationId);
  throw new ApiError(noOrganization(scope));
}

/** @throws ApiError `member_limit`, `template_limit`, `channel_limit` if the organization has no room for one more row */
export async function refuseWithoutRoom(db: Directory, kind: RowKind, organizationId: string): Promise<void> {
  const found = await db
    .select({ count: countOf(kind).mapWith(Number), ceiling: ceilingOf(kind).mapWith(Number) })
    .from(organizations)
    .where(and(eq(organizations.id, organizationId), isNull(organizations.erasingAt)))
    .get();
  if (!found || found.count < found.ceiling) return;
  const text = `The organization has ${found.count} ${kind}, and its limit is ${found.ceiling}. Delete one, or ask the operator to raise limits.${kind}`;
  throw new ApiError(KINDS[kind].code, { text });
}

function countOf(kind: RowKind): SQL<unknown> {
  return sql`(select count(*) from ${sql.identifier(kind)} other where other.organization_id = "organizations"."id")`;
}

function ceilingOf(kind: RowKind): SQL<unknown> {
  return sql`coalesce("organizations"."limits" ->> ${`$.${kind}`}, ${ROW_CEILINGS[kind]})`;
}
