import { and, eq, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { directory } from "../db/client.ts";
import { members } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { atMost, optional, requiredText } from "../http/fields.ts";
import { PERMISSIONS, type Permission } from "../keys/permissions.ts";
import { PRESET_NAMES, PRESETS, type Preset } from "../keys/presets.ts";
import { newIdOf, type RequestAct } from "./audit.ts";
import { type Authority, authorityOf, isMemberAsRead } from "./key-authority.ts";
import { hasRoomForRow, refuseWithoutRoom } from "./row-ceilings.ts";
import { insertIf, isWithin, rowOf } from "./rows.ts";
import { type Actor, noOrganization, type Scope } from "./scope.ts";
import { tryOften } from "./try-often.ts";

type Member = typeof members.$inferSelect;

export const MAX_NAME = 256;

const email = z.email().check(...atMost(320));
/** The name of a preset, or a list. */
const permissions = z.union(
  [z.enum(PRESET_NAMES), z.array(z.enum(PERMISSIONS)).check(z.maxLength(100))],
  `must be ${PRESET_NAMES.join(", ")}, or a list of permissions`,
);

/** An organization's first member, who is a manager. */
export const ownerBody = z.object({ name: requiredText(MAX_NAME), email: optional(email) });

/** The body of `POST /organizations/{id}/members`. */
export const newMemberBody = z.object({ ...ownerBody.shape, permissions: optional(permissions) });

/** The body of `PATCH /members/{id}`. Absent fields don't change. Null restores the default. */
export const memberPatch = z.object({
  name: z.optional(requiredText(MAX_NAME)),
  email: z.nullish(email),
  permissions: z.nullish(permissions),
});

/**
 * Adds a member to an organization.
 * @throws ApiError `permission_denied` if a key or a member gives more permissions than it has; `member_limit`; as
 *   `noOrganization`
 */
export async function createMember(env: Env, actor: Actor, act: RequestAct, body: z.output<typeof newMemberBody>) {
  const db = directory(env);
  const id = newIdOf(act);
  return tryOften(id, async () => {
    const authority = await authorityOf(db, actor);
    const given = resolved(body.permissions);
    if (authority && given) checkGrant(authority, given);
    const permissions = given ?? defaultPermissions(authority);
    const member = newMember(id, act.organizationId, { ...body, permissions });
    const condition = and(authority?.isAsRead, hasRoomForRow("members"));
    if (await insertIf(db, members, member, condition)) return presentMember(member);
    await refuseWithoutRoom(db, "members", act.organizationId);
    if (!authority) throw new ApiError(noOrganization(actor.scope));
    return null;
  });
}

/**
 * Changes a member. What the member may do in the console changes with its next request. A sign-in link that was not
 * used yet ends, because its maker might not be able to give what the member has now. For the same reason, a new
 * permission ends the member's sessions. Fields that don't change are not written, so that concurrent changes stay.
 * @throws ApiError `member_not_found`; `permission_denied` if a key or a member changes a member that has or gets more
 *   permissions than it has
 */
export async function patchMember(env: Env, actor: Actor, id: string, patch: z.output<typeof memberPatch>) {
  const db = directory(env);
  return tryOften(id, async () => {
    const authority = await authorityOf(db, actor);
    const before = await rowOf(db, actor.scope, members, id, "member_not_found");
    const permissions = patch.permissions === null ? defaultPermissions(authority) : resolved(patch.permissions);
    const gained = permissions?.filter((permission) => !before.permissions.includes(permission)) ?? [];
    const changes = {
      ...patch,
      permissions,
      ...(gained.length > 0 && { sessionsSince: Date.now() }),
      signInHash: null,
      signInUntil: null,
    };
    if (authority) checkGrant(authority, [...before.permissions, ...gained]);
    const condition = and(isMemberAsRead(before), isWithin(members, actor.scope), authority?.isAsRead);
    const [member] = await db.update(members).set(changes).where(condition).returning();
    return member ? presentMember(member) : null;
  });
}

/**
 * Removes a member, unless it is the last one. If it is the default sender, keys use the next member within a minute,
 * when their objects read the directory again.
 * @throws ApiError `member_not_found`, `last_member`
 */
export async function deleteMember(env: Env, scope: Scope, id: string) {
  const db = directory(env);
  const member = await rowOf(db, scope, members, id, "member_not_found");
  const ofOrganization = eq(members.organizationId, member.organizationId);
  const others = db.select({ others: sql`count(*) - 1` }).from(members).where(ofOrganization);
  const [deleted] = await db
    .delete(members)
    .where(and(eq(members.id, id), isWithin(members, scope), sql`${others} > 0`))
    .returning();
  if (deleted) return presentMember(deleted);
  await rowOf(db, scope, members, id, "member_not_found");
  throw new ApiError("last_member");
}

/**
 * Checks that a member with these permissions can't do more in the console than the key or member that manages it.
 * @throws ApiError `permission_denied`
 */
export function checkGrant({ power }: Authority, permissions: readonly Permission[]): void {
  const lacked = [...new Set(permissions)].filter((permission) => !power.permissions.includes(permission));
  const isLimited = power.expiresAt !== null || power.ipAllowlist.length > 0;
  if (lacked.length > 0) {
    const text = `The member has or gets permissions that you lack: ${lacked.join(", ")}`;
    throw new ApiError("permission_denied", { text });
  }
  // Sessions have no allow-list, and outlive the key.
  if (isLimited && permissions.length > 0) {
    const text = "An API key with an end or an allow-list of addresses can't give permissions to members";
    throw new ApiError("permission_denied", { text });
  }
}

export function presentMember({ id, organizationId, name, email, permissions, createdAt }: Member) {
  return { id, organizationId, name, email, permissions, createdAt: new Date(createdAt).toISOString() };
}

/** A new member, not stored yet. */
export function newMember(
  id: string,
  organizationId: string,
  { name, email, permissions }: z.output<typeof ownerBody> & { permissions: Permission[] },
  createdAt = Date.now(),
): Member {
  return {
    id,
    organizationId,
    name,
    email: email ?? null,
    permissions,
    sessionsSince: 0,
    signInHash: null,
    signInUntil: null,
    createdAt,
  };
}

/** The permissions of a preset or a list. */
function resolved(given: Preset | Permission[] | undefined): Permission[] | undefined {
  return typeof given === "string" ? [...PRESETS[given]] : given;
}

/** What a new member may do: an agent's permissions, as far as its giver has them. */
function defaultPermissions(authority: Authority | null): Permission[] {
  if (!authority) return [...PRESETS.agent];
  const { permissions, expiresAt, ipAllowlist } = authority.power;
  if (expiresAt !== null || ipAllowlist.length > 0) return [];
  return PRESETS.agent.filter((permission) => permissions.includes(permission));
}
