import type { Context, MiddlewareHandler } from "hono";
import { directory } from "../db/client.ts";
import { refusedNeed } from "../keys/guard.ts";
import { type Caller, OPERATOR } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { PERMISSIONS } from "../model/permission.ts";
import { ACCESS_HEADER } from "./access.ts";
import type { ConsoleContext, ConsoleEnv } from "./context.ts";
import { findActiveOrganization } from "./member-rows.ts";
import { type Person, personOf } from "./people.ts";
import { isCurrent, readSession } from "./session.ts";
import { keepPace } from "./session-pace.ts";

/**
 * Middleware: refuses a request that no page of this service made. The browser names the page's site in a header, for
 * every method and body, and a page can't change it.
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function refuseOtherSites(): MiddlewareHandler {
  return async function refuseOtherSite(c, next) {
    checkSite(c);
    await next();
  };
}

/**
 * Middleware for `/console/api`: requires a session that keeps its pace, and whose person `c.var.person` is. No other route
 * reads the cookie.
 */
export function requireSession(): MiddlewareHandler<ConsoleEnv> {
  return async function checkSession(c, next) {
    const claims = await readSession(c);
    if (!claims) throw new ApiError("not_signed_in");
    checkSite(c);
    keepPace(c.env, claims.jti);
    const person = await personOf(c.env, claims, c.req.header(ACCESS_HEADER));
    if (!person) throw new ApiError("not_signed_in");
    c.set("claims", claims);
    c.set("person", person);
    await next();
  };
}

/** Middleware for the routes about organizations as such. */
export function requireOperator(): MiddlewareHandler<ConsoleEnv> {
  return async function checkOperator(c, next) {
    if (c.var.person.kind !== "operator") {
      throw new ApiError("permission_denied", { text: "Only the operator can do this. Ask the operator" });
    }
    await next();
  };
}

/**
 * Middleware for the routes of one organization, which are those of its keys: gives them the session in place of a key.
 * To a member, other organizations don't exist.
 * @param idOf the organization's id. By default, it is in the path
 */
export function enterOrganization(
  idOf: (c: ConsoleContext) => string = (c) => c.req.param("organizationId") ?? "",
): MiddlewareHandler<ConsoleEnv> {
  return async function checkOrganization(c, next) {
    const { env } = c;
    const { claims, person } = c.var;
    const accessToken = c.req.header(ACCESS_HEADER);
    const organizationId = idOf(c);
    const caller = await callerIn(env, person, organizationId);
    if (!caller) throw new ApiError("organization_not_found");
    c.set("session", {
      id: claims.jti,
      caller,
      async check(permission) {
        const now = isCurrent(claims, Date.now()) ? await personOf(env, claims, accessToken) : null;
        const current = now && (await callerIn(env, now, organizationId));
        return current ? refusedNeed(current, permission) : new ApiError("not_signed_in");
      },
    });
    await next();
  };
}

/** What a person may do in an organization; null if the organization does not exist for this person. */
async function callerIn(env: Env, person: Person, organizationId: string): Promise<Caller | null> {
  if (person.kind === "member") {
    const { id, name, publicName, permissions, region, ...member } = person.member;
    if (member.organizationId !== organizationId) return null;
    const principal = { type: "member", id, name, linkBy: person.linkBy } as const;
    const { passkeyId } = person;
    return {
      principal,
      organizationId,
      permissions,
      defaultSenderId: id,
      region,
      publicName: publicName ?? name,
      passkeyId,
    };
  }
  const organization = await findActiveOrganization(directory(env), organizationId);
  if (!organization) return null;
  const principal = { type: "operator", id: OPERATOR, name: "Operator" } as const;
  const { region } = organization;
  return { principal, organizationId, permissions: PERMISSIONS, defaultSenderId: null, region };
}

function checkSite(c: Context): void {
  if (c.req.header("Sec-Fetch-Site") !== "same-origin") throw new ApiError("cross_site");
}
