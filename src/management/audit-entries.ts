import * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import { beforeQuery } from "../http/pagination.ts";
import { fault } from "../http/validation.ts";
import { tellWaitingActs } from "../keys/waiting-acts.ts";
import type { Act } from "../model/audit.ts";
import { ACTION_NAMES } from "../model/audit-action.ts";
import { queryText } from "../model/field.ts";
import { timeOfId } from "../model/id.ts";
import type { WalkPagination } from "../model/list-page.ts";

const MAX_ID = 64;

/** The query of `GET /audit`. */
export const auditQuery = z.extend(beforeQuery, {
  actor: z.optional(queryText(MAX_ID)),
  action: z.optional(z.enum(ACTION_NAMES)),
  target: z.optional(queryText(MAX_ID)),
});

/**
 * A page of an organization's audit log, newest first, in one call of its object. The log first gets the entries that
 * still wait for it.
 * @throws ApiError `validation_failed` for an unknown cursor
 */
export async function listEntries(
  env: Env,
  organizationId: string,
  { before, limit, ...filter }: z.output<typeof auditQuery>,
): Promise<{ entries: ReturnType<typeof presentEntry>[]; pagination: WalkPagination }> {
  await tellWaitingActs(env, organizationId);
  const page = await callOrganization(env, organizationId, (object) => object.acts(filter, before ?? null, limit));
  if (!page) throw fault("before", "is not a cursor of this list");
  const { acts, cursor } = page;
  return { entries: acts.map(presentEntry), pagination: { limit, hasMore: cursor !== null, cursor } };
}

export function presentEntry({ id, actor, action, target, status, requestId, changed, count, linkBy }: Act) {
  const at = new Date(timeOfId(id)).toISOString();
  return { id, at, actor, action, target, status, requestId, changed, count, linkBy };
}
