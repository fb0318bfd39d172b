import * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import type { Actor } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";

export const MAX_RETENTION_DAYS = 3_650;

/** The `retentionDays` of a channel: after how many days its messages are deleted. Null: never. */
export const retentionDays = z.nullish(z.int().check(z.gte(1), z.lte(MAX_RETENTION_DAYS)));

/**
 * Has the organization's object read the retention in D1 again, and tell it to the chats.
 * @throws ApiError `unavailable` if the object does not respond. It then reads D1 within a minute of its next use
 */
export async function startRetention(env: Env, organizationId: string): Promise<void> {
  await callOrganization(env, organizationId, (organization) => organization.refresh());
}

/** Retention deletes messages. @throws ApiError `permission_denied` */
export function checkRetention({ scope }: Actor, mayErase: boolean, days: number | null | undefined): void {
  if (scope === "any" || mayErase || days === undefined) return;
  throw new ApiError("permission_denied", {
    text: "Changing retentionDays needs the permission chats:erase. Use a key that has it",
  });
}
