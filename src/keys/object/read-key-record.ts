import { and, eq, getTableColumns, isNull, sql } from "drizzle-orm";
import type { Directory } from "../../db/client.ts";
import { apiKeys, members, organizations } from "../../db/schema.ts";
import type { KeyRecord } from "../../model/key.ts";

/** Reads a key's record. @returns null if the key doesn't exist or its organization is being deleted */
export async function readKeyRecord(db: Directory, id: string): Promise<KeyRecord | null> {
  const defaultSenderId = sql<string>`(
    select ${members.id} from ${members} where ${members.organizationId} = ${apiKeys.organizationId}
    order by ${members.createdAt}, ${members.id} limit 1)`;
  const row = await db
    .select({ key: getTableColumns(apiKeys), region: organizations.region, defaultSenderId })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(and(eq(apiKeys.id, id), isNull(organizations.erasingAt)))
    .get();
  return row ? { ...row.key, region: row.region, defaultSenderId: row.defaultSenderId } : null;
}
