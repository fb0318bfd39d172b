import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import { type Directory, directory } from "../db/client.ts";
import { retryOnConflict } from "../db/retry-on-conflict.ts";
import { rowOf } from "../db/rows.ts";
import { members, organizations } from "../db/schema.ts";
import type { RequestAct } from "../keys/audited.ts";
import { noOrganization, OPERATOR, type Scope } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { optional, requiredText } from "../model/field.ts";
import { newId } from "../model/id.ts";
import { PRESETS } from "../model/permission.ts";
import { pick } from "../model/pick.ts";
import { REGIONS } from "../model/region.ts";
import type { SearchState } from "../model/search-index.ts";
import { isoTime } from "../model/time.ts";
import { warnIfFails } from "../platform/log.ts";
import {
  limitsBody,
  mergeLimits,
  mergeSelfService,
  presentLimits,
  presentSelfService,
  refreshOrganization,
  selfServiceBody,
} from "./limits.ts";
import { MAX_NAME, newMember, ownerBody, presentMember } from "./members.ts";
import { searchBody, setSearch, withSearch } from "./search-setting.ts";

type Organization = typeof organizations.$inferSelect;

/** The body of `POST /organizations`. */
export const newOrganizationBody = z.object({
  name: requiredText(MAX_NAME),
  owner: ownerBody,
  jurisdiction: optional(z.enum(["eu", "us"])),
  region: optional(z.enum(REGIONS)),
  limits: optional(limitsBody),
  selfService: optional(selfServiceBody),
  temporary: optional(z.boolean()),
  search: optional(searchBody),
});

/** The body of `PATCH /organization`: what an organization sets itself. */
export const ownOrganizationPatch = z.object({
  assignOnAnswer: z.nullish(z.boolean()),
  search: optional(searchBody),
});

/** The body of `PATCH /organizations/{id}`. */
export const organizationPatch = z.extend(ownOrganizationPatch, {
  name: z.optional(requiredText(MAX_NAME)),
  limits: z.nullish(limitsBody),
  selfService: z.nullish(selfServiceBody),
});

/**
 * Creates an organization and its first member. An organization always has a member.
 *
 * Its audit log is in its object, which stores nothing before the organization exists. So the row of the creation follows
 * it. If either can't be stored, or D1's response is lost, the organization is removed again.
 * @throws ApiError `unavailable`
 */
export async function createOrganization(env: Env, act: RequestAct, body: z.output<typeof newOrganizationBody>) {
  const createdAt = Date.now();
  const organization: Organization = {
    id: act.organizationId,
    name: body.name,
    jurisdiction: body.jurisdiction ?? null,
    region: body.region ?? null,
    limits: mergeLimits({}, body.limits ?? {}),
    selfService: body.selfService ? mergeSelfService(null, body.selfService) : null,
    assignOnAnswer: false,
    temporary: body.temporary ?? false,
    createdAt,
    erasingAt: null,
  };
  const owner = { ...body.owner, permissions: [...PRESETS.manager], createdBy: OPERATOR };
  const member = newMember(newId("mbr", organization.jurisdiction), organization.id, owner, createdAt);
  const db = directory(env);
  try {
    await db.batch([db.insert(organizations).values(organization), db.insert(members).values(member)]);
    // Only an object's first call says where it lives. Without a region, that is the place of the operator.
    await act.begin(organization.region);
    // Nothing is to be filled, so it costs nothing until the first message.
    if (body.search?.on !== false) await setSearch(env, "any", organization.id, true);
  } catch (error) {
    await removeNew(env, organization.id);
    throw error;
  }
  const shown = await withSearch(env, presentOrganization(organization));
  return { organization: shown, member: presentMember(member) };
}

/** Removes an organization that nobody knows yet. */
async function removeNew(env: Env, id: string): Promise<void> {
  // It may have the row although its answer was lost.
  await warnIfFails({ event: "organization_not_deleted", organizationId: id }, () =>
    callOrganization(env, id, (organization) => organization.erase()),
  );
  const db = directory(env);
  await db.batch([
    db.delete(members).where(eq(members.organizationId, id)),
    db.delete(organizations).where(eq(organizations.id, id)),
  ]);
}

/**
 * Changes an organization. Absent fields and limits stay as they are. If another request changes the
 * organization in between, it is read again, so that no change is lost.
 * @throws ApiError as `setSearch`, before anything is changed
 */
export async function patchOrganization(env: Env, scope: Scope, id: string, patch: z.output<typeof organizationPatch>) {
  const db = directory(env);
  if (patch.search) {
    await activeOrganization(db, scope, id);
    await setSearch(env, scope, id, patch.search.on);
  }
  const changed = await retryOnConflict(id, async () => {
    const before = await activeOrganization(db, scope, id);
    const { assignOnAnswer, name, limits, selfService } = patch;
    const values = {
      ...(assignOnAnswer !== undefined && { assignOnAnswer: assignOnAnswer ?? false }),
      ...(name !== undefined && { name }),
      ...(limits !== undefined && { limits: mergeLimits(before.limits, limits) }),
      ...(selfService !== undefined && { selfService: mergeSelfService(before.selfService, selfService) }),
    };
    if (Object.keys(values).length === 0) return before;
    const isSame = and(eq(organizations.id, id), isNull(organizations.erasingAt), isOrganizationAsRead(before));
    const [organization] = await db.update(organizations).set(values).where(isSame).returning();
    return organization ?? null;
  });
  await refreshOrganization(env, id);
  return withSearch(env, presentOrganization(changed));
}

/** A condition: the columns that a change depends on still have the values of `row`. */
function isOrganizationAsRead({ limits, selfService }: Organization): SQL | undefined {
  return and(
    sql`json(${organizations.limits}) is json(${JSON.stringify(limits)})`,
    sql`json(${organizations.selfService}) is json(${selfService && JSON.stringify(selfService)})`,
  );
}

/** An organization, even while it is being deleted. */
export function findOrganization(env: Env, scope: Scope, id: string): Promise<Organization> {
  return rowOf(directory(env), scope, organizations, id, noOrganization(scope));
}

/** An organization that is not being deleted. @throws ApiError as `noOrganization` */
export async function activeOrganization(db: Directory, scope: Scope, id: string): Promise<Organization> {
  const organization = await rowOf(db, scope, organizations, id, noOrganization(scope));
  if (organization.erasingAt !== null) throw new ApiError(noOrganization(scope));
  return organization;
}

/** An organization as the API shows it. Only a response with a single one says whether its messages can be searched. */
export type ShownOrganization = ReturnType<typeof presentOrganization> & { search?: SearchState | undefined };

export function presentOrganization(organization: Organization) {
  const { limits, selfService, assignOnAnswer, temporary, createdAt } = organization;
  return {
    ...pick(organization, "id", "name", "jurisdiction", "region"),
    limits: presentLimits(limits),
    selfService: selfService && presentSelfService(selfService),
    assignOnAnswer,
    temporary,
    createdAt: isoTime(createdAt),
  };
}
