import { and, eq } from "drizzle-orm";
import { changeMember } from "../calls/change-member.ts";
import { directory } from "../db/client.ts";
import { retryOnConflict } from "../db/retry-on-conflict.ts";
import { isWithin, rowOf } from "../db/rows.ts";
import { members } from "../db/schema.ts";
import type { RequestAct } from "../keys/audited.ts";
import { type Authority, isMemberAsRead, lastingAuthority } from "../keys/key-authority.ts";
import { keepAct } from "../keys/waiting-acts.ts";
import type { Actor } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { randomBase62 } from "../model/id.ts";
import { checkWithin, NO_LINK } from "./member-authority.ts";
import { countOfPasskeys, forgetPasskeys } from "./member-passkeys.ts";

const LASTS_MS = 24 * 3_600_000;
/** 256 bits. */
const SECRET_LENGTH = 43;

/**
 * Creates a link that signs a member in to the console once. It replaces the link before it. Its code is in the
 * fragment, which browsers send to no server, and only its hash is stored.
 *
 * A member can't make a link for itself: its session would outlast a sign-out.
 * @param origin where the console is
 * @throws ApiError `member_not_found`; `permission_denied` as `authorityForLink`
 */
export async function createSignInLink(
  env: Env,
  actor: Actor,
  id: string,
  origin: string,
): Promise<{ url: string; expiresAt: string }> {
  const db = directory(env);
  const code = `${id}.${randomBase62(SECRET_LENGTH)}`;
  const signInHash = await hashOfLink(code);
  return retryOnConflict(id, async () => {
    const before = await rowOf(db, actor.scope, members, id, "member_not_found");
    const authority = await authorityForLink(env, actor, before);
    const signInUntil = Date.now() + LASTS_MS;
    const condition = and(isMemberAsRead(before), isWithin(members, actor.scope), authority?.isAsRead);
    const [member] = await db
      .update(members)
      .set({ signInHash, signInUntil, signInBy: actor.id })
      .where(condition)
      .returning({ id: members.id });
    return member ? { url: `${origin}/console#code=${code}`, expiresAt: new Date(signInUntil).toISOString() } : null;
  });
}

/**
 * The authority of who makes a link for a member, or made it: checked again when the link is used. Null for the operator.
 * @throws ApiError `permission_denied` if the member may do more, or is the one that makes the link; as `authorityOf`
 */
export async function authorityForLink(
  env: Env,
  maker: Actor,
  member: Pick<typeof members.$inferSelect, "id" | "permissions">,
): Promise<Authority | null> {
  const authority = await lastingAuthority(directory(env), maker, "create sign-in links");
  if (!authority) return null;
  if (maker.id === member.id) {
    throw new ApiError("permission_denied", { text: "You can't create a sign-in link for yourself. Ask a colleague" });
  }
  checkWithin(authority, ["members:write", ...member.permissions]);
  return authority;
}

/** Ends all sessions of a member, and deletes its sign-in link and passkeys. @throws ApiError `member_not_found` */
export async function endSessions(env: Env, actor: Actor, act: RequestAct, id: string) {
  const db = directory(env);
  const before = await rowOf(db, actor.scope, members, id, "member_not_found");
  const ended = { sessionsSince: Date.now(), ...NO_LINK, ...countOfPasskeys() };
  const isIt = and(eq(members.id, id), isWithin(members, actor.scope));
  const [, , [member]] = await changeMember(
    env,
    before,
    () =>
      db.batch([
        keepAct(db, act, members, isIt),
        forgetPasskeys(db, actor.passkeyId, id, isIt),
        db.update(members).set(ended).where(isIt).returning(),
      ]),
    // After the commit, so that it also ends a session that began during the request.
    () => Date.now(),
  );
  if (!member) throw new ApiError("member_not_found");
  return member;
}

/** SHA-256 of a link's code, in hex. */
export async function hashOfLink(code: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code))).toHex();
}
