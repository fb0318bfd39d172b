import { eq } from "drizzle-orm";
import type { Region } from "../model/region.ts";
import type { Directory } from "./client.ts";
import { organizations } from "./schema.ts";

/** Where an organization wants its objects; null if it does not say, or does not exist. */
export async function regionOf(db: Directory, organizationId: string): Promise<Region | null> {
  const row = await db
    .select({ region: organizations.region })
    .from(organizations)
    .where(eq(organizations.id, organizationId))
    .get();
  return row?.region ?? null;
}
