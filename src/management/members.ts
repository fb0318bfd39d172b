import { and, eq, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { changeMember } from "../calls/change-member.ts";
import { directory } from "../db/client.ts";
import { retryOnConflict } from "../db/retry-on-conflict.ts";
import { hasRoomForRow, refuseWithoutRoom } from "../db/row-ceilings.ts";
import { insertIf, isWithin, rowOf } from "../db/rows.ts";
import { members } from "../db/schema.ts";
import { newIdOf, type RequestAct } from "../keys/audited.ts";
import { type Authority, authorityOf, checkLasting, isMemberAsRead } from "../keys/key-authority.ts";
import { keepAct } from "../keys/waiting-acts.ts";
import { type Actor, noOrganization } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { isBound } from "../model/escalation.ts";
import { atMost, notBlankIfGiven, optional, requiredText, wellFormed } from "../model/field.ts";
import { PERMISSIONS, type Permission, PRESET_NAMES, PRESETS, type Preset } from "../model/permission.ts";
import { pick } from "../model/pick.ts";
import { isoTime, isoTimeOrNull } from "../model/time.ts";
import { withLeftBehind } from "./left-behind.ts";
import { checkWithin, NO_LINK, otherManager, refuseIfLastManager } from "./member-authority.ts";
import { countOfPasskeys, forgetPasskeys } from "./member-passkeys.ts";

type Member = typeof members.$inferSelect;

export const MAX_NAME = 256;
/** Pages show this name beside each message. */
const MAX_PUBLIC_NAME = 80;

const GIVE_PERMISSIONS = "give permissions to members";

const publicName = z.string().check(notBlankIfGiven, wellFormed, ...atMost(MAX_PUBLIC_NAME));
const email = z.email().check(...atMost(320));
/** The name of a preset, or a list. */
const permissions = z.union(
  [z.enum(PRESET_NAMES), z.array(z.enum(PERMISSIONS)).check(z.maxLength(100))],
  `must be ${PRESET_NAMES.join(", ")}, or a list of permissions`,
);

/** An organization's first member, who is a manager. */
export const ownerBody = z.object({ name: requiredText(MAX_NAME), email: optional(email) });

/** The body of `POST /organizations/{id}/members`. */
export const newMemberBody = z.object({
  ...ownerBody.shape,
  publicName: optional(publicName),
  permissions: optional(permissions),
});

/** The body of `PATCH /members/{id}`. Absent fields don't change. Null restores the default. */
export const memberPatch = z.object({
  name: z.optional(requiredText(MAX_NAME)),
  publicName: z.nullish(publicName),
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
  return retryOnConflict(id, async () => {
    const authority = await authorityOf(db, actor);
    const given = resolved(body.permissions);
    if (authority && given) checkGrant(authority, given);
    const permissions = given ?? defaultPermissions(authority);
    const member = newMember(id, act.organizationId, { ...body, permissions, createdBy: actor.id });
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
 * permission ends the member's sessions and deletes its passkeys. Fields that don't change are not written, so that concurrent changes stay.
 * @returns the member; if it lost a permission, also what it leaves behind
 * @throws ApiError `member_not_found`; `permission_denied` if a key or a member changes a member that has or gets more
 *   permissions than it has; `last_manager` if nobody would be left who manages members
 */
export async function patchMember(env: Env, actor: Actor, id: string, patch: z.output<typeof memberPatch>) {
  const db = directory(env);
  return retryOnConflict(id, async () => {
    const authority = await authorityOf(db, actor);
    const before = await rowOf(db, actor.scope, members, id, "member_not_found");
    const permissions = patch.permissions === null ? defaultPermissions(authority) : resolved(patch.permissions);
    const after = permissions ?? before.permissions;
    const gained = after.filter((permission) => !before.permissions.includes(permission));
    const now = Date.now();
    // With Cloudflare Access, an email lets somebody in.
    const isNewEmail = patch.email !== undefined && patch.email !== before.email;
    const isGiven = gained.length > 0 || isNewEmail;
    const isEmailTaken = isNewEmail && before.email !== null;
    const endsSessions = gained.length > 0 || isEmailTaken;
    const changes = {
      ...patch,
      permissions,
      ...(isNewEmail && { emailBy: actor.id }),
      ...(gained.length > 0 && { setBy: actor.id }),
      ...(endsSessions && { sessionsSince: now, ...countOfPasskeys() }),
      ...NO_LINK,
    };
    if (authority) checkWithin(authority, [...before.permissions, ...gained]);
    if (authority && isGiven && after.length > 0) checkLasting(authority, GIVE_PERMISSIONS);
    const manager = authority ? otherManager(before, after) : undefined;
    const hasEmailAsRead = patch.email === undefined ? undefined : sql`${members.email} is ${before.email}`;
    const isAsRead = and(isMemberAsRead(before), hasEmailAsRead, authority?.isAsRead);
    const condition = and(isAsRead, isWithin(members, actor.scope), manager);
    const change = db.update(members).set(changes).where(condition).returning();
    // The passkey of this session may be one that the email's holder added.
    const kept = isEmailTaken ? undefined : actor.passkeyId;
    const first = endsSessions ? forgetPasskeys(db, kept, id, condition) : undefined;
    const { changed: member, leftBehind } = await changeMember(
      env,
      before,
      () => withLeftBehind(db, change, before, first),
      // After the commit, so that it also ends a session that began during the request.
      ({ changed }) => (changed && endsSessions ? Date.now() : null),
    );
    const hasLost = before.permissions.some((permission) => !after.includes(permission));
    if (member) return { member: presentMember(member), ...(hasLost && { leftBehind }) };
    if (manager) await refuseIfLastManager(db, before, manager);
    return null;
  });
}

/**
 * Removes a member, unless it is the last one. If it is the default sender, keys use the next member within a minute,
 * when their objects read the directory again.
 * @throws ApiError `member_not_found`, `last_member`; `permission_denied` if a key or a member removes a member that may
 *   do more; `last_manager` if nobody would be left who manages members
 */
export async function deleteMember(env: Env, actor: Actor, act: RequestAct, id: string) {
  const db = directory(env);
  return retryOnConflict(id, async () => {
    const authority = await authorityOf(db, actor);
    const before = await rowOf(db, actor.scope, members, id, "member_not_found");
    if (authority) checkWithin(authority, before.permissions);
    const manager = authority ? otherManager(before, []) : undefined;
    const isIt = authority ? and(isMemberAsRead(before), authority.isAsRead) : eq(members.id, id);
    const ofOrganization = eq(members.organizationId, before.organizationId);
    const others = db.select({ others: sql`count(*) - 1` }).from(members).where(ofOrganization);
    const condition = and(isIt, isWithin(members, actor.scope), sql`${others} > 0`, manager);
    const removal = db.delete(members).where(condition).returning();
    const kept = keepAct(db, act, members, condition);
    const { changed: member, leftBehind } = await changeMember(
      env,
      before,
      () => withLeftBehind(db, removal, before, kept),
      ({ changed }) => (changed ? Date.now() : null),
      true,
    );
    if (member) return { member: presentMember(member), leftBehind };
    await rowOf(db, actor.scope, members, id, "member_not_found");
    if ((await db.$count(members, ofOrganization)) < 2) throw new ApiError("last_member");
    if (manager) await refuseIfLastManager(db, before, manager);
    return null;
  });
}

/**
 * Checks that a member with these permissions can't do more in the console than the key or member that makes it so.
 * @throws ApiError `permission_denied`
 */
function checkGrant(authority: Authority, permissions: readonly Permission[]): void {
  checkWithin(authority, permissions);
  if (permissions.length > 0) checkLasting(authority, GIVE_PERMISSIONS);
}

export function presentMember(member: Member) {
  return {
    ...pick(member, "id", "organizationId", "name", "publicName", "email", "permissions", "passkeys", "createdBy"),
    createdAt: isoTime(member.createdAt),
    lastSeenAt: isoTimeOrNull(member.lastSeenAt),
  };
}

/** A new member, not stored yet. */
export function newMember(
  id: string,
  organizationId: string,
  {
    name,
    publicName,
    email,
    permissions,
    createdBy,
  }: z.output<typeof ownerBody> & { publicName?: string | undefined } & Pick<Member, "permissions" | "createdBy">,
  createdAt = Date.now(),
): Member {
  return {
    id,
    organizationId,
    name,
    publicName: publicName ?? null,
    email: email ?? null,
    permissions,
    sessionsSince: 0,
    ...NO_LINK,
    passkeys: 0,
    createdBy,
    setBy: null,
    emailBy: null,
    createdAt,
    lastSeenAt: null,
  };
}

/** The permissions of a preset or a list. */
function resolved(given: Preset | Permission[] | undefined): Permission[] | undefined {
  return typeof given === "string" ? [...PRESETS[given]] : given;
}

/** What a new member may do: an agent's permissions, as far as its giver has them. */
function defaultPermissions(authority: Authority | null): Permission[] {
  if (!authority) return [...PRESETS.agent];
  const { power } = authority;
  return isBound(power) ? [] : PRESETS.agent.filter((permission) => power.permissions.includes(permission));
}
