import { eq, lte } from "drizzle-orm";
import { callOrganization } from "../calls/call-organization.ts";
import { directory } from "../db/client.ts";
import { endedSessions } from "../db/schema.ts";
import type { Claims } from "../model/session.ts";

/**
 * Ends a session: from now on, no request with its cookie or a copy of it counts. The end of a member's session is
 * stored in the organization's object, which is asked about each request anyway; the operator's, in the directory.
 * @throws if it can't be stored: then the session goes on
 */
export async function endSession(env: Env, claims: Claims): Promise<void> {
  const { jti: id, exp: until } = claims;
  if (claims.kind === "operator") {
    const db = directory(env);
    await db.batch([
      db.delete(endedSessions).where(lte(endedSessions.until, Date.now())),
      db.insert(endedSessions).values({ id, until }).onConflictDoNothing(),
    ]);
    return;
  }
  const { organizationId, memberId, iat: startedAt } = claims;
  const session = { memberId, sessionId: id, startedAt };
  await callOrganization(env, organizationId, (object) => object.endSession(organizationId, session, until));
}

/** Whether the operator ended this session. @throws if D1 does not answer */
export async function isEndedByOperator(env: Env, { jti }: Claims): Promise<boolean> {
  return (await directory(env).$count(endedSessions, eq(endedSessions.id, jti))) > 0;
}
