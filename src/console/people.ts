import { callOrganization } from "../calls/call-organization.ts";
import type { MemberRecord } from "../model/organization.ts";
import type { Claims } from "../model/session.ts";
import { isOperatorEmail, lowerCase, personOfAccess } from "./access.ts";
import { isEndedByOperator } from "./ended-sessions.ts";

/** Who is signed in. */
export type Person =
  | { kind: "operator" }
  | { kind: "member"; member: MemberRecord; linkBy: string | undefined; passkeyId: string | undefined };

/**
 * The person of a session, as it is now; null if the session no longer counts. A member's costs one call of the
 * organization's object, and the operator's one query of D1.
 * @param accessToken the request's token of Cloudflare Access, if it has one. A session that began with Access counts
 *   only for requests for which Access vouches for the same person.
 */
export async function personOf(env: Env, claims: Claims, accessToken: string | undefined): Promise<Person | null> {
  const { email } = claims;
  if (email !== null && (await personOfAccess(env, accessToken))?.email !== email) return null;
  if (claims.kind === "operator") {
    const isOperator = email === null || isOperatorEmail(env, email);
    return isOperator && !(await isEndedByOperator(env, claims)) ? { kind: "operator" } : null;
  }
  const { organizationId, memberId, jti: sessionId, iat: startedAt } = claims;
  const session = { memberId, sessionId, startedAt };
  const member = await callOrganization(env, organizationId, (object) => object.member(organizationId, session));
  if (!member || (email !== null && lowerCase(member.email ?? "") !== email)) return null;
  return { kind: "member", member, linkBy: claims.linkBy, passkeyId: claims.passkeyId };
}
