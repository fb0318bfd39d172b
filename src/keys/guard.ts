import type { Context } from "hono";
import { routePath } from "hono/route";
import { refuseStranger } from "../http/abuse-limit.ts";
import { bearerToken } from "../http/bearer.ts";
import { type Before, before } from "../http/before.ts";
import { errorResponse } from "../http/error-response.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { isSharedByWorkers } from "../model/allowlist.ts";
import type { Caller } from "../model/caller.ts";
import { ApiError, type ErrorReply } from "../model/error.ts";
import type { WindowState } from "../model/key.ts";
import {
  lackOf,
  type Need,
  neededPermissions,
  needsOnlyOne,
  type Permission,
  type ReadNeed,
} from "../model/permission.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { admit, type RefusedAdmission } from "./admit.ts";
import { rememberedKey, type WellFormedKey, wellFormedKey } from "./well-formed-key.ts";

/** What a person with a session of the console may do in one organization. It takes the place of a key. */
export interface Session {
  /** Each sign-in has another one. */
  id: string;
  caller: Caller;
  /** Reads again why the session may no longer make a request that needs `permission`; null if it may. */
  check: (permission: Need | null) => Promise<ApiError | null>;
}

/** The context variables of a guarded route. A request has either a key or a session. */
export interface KeyVariables {
  key?: WellFormedKey;
  session?: Session;
  /** Set if the key's object has admitted the request already: a route was called by another route. */
  admitted?: Caller;
  caller: Caller;
}

type KeyEnv = { Bindings: Env; Variables: RequestVariables & KeyVariables };

const INVALID_KEY: ErrorReply = { code: "invalid_api_key" };

/**
 * Middleware for the whole prefix: checks the header, and the format and checksum of the key, without any call. A route
 * that then responds without `permit` has a bug: `requestLog` makes its response an error.
 */
export function authenticate(): Before<KeyEnv> {
  return before((c) => {
    const text = bearerToken(c);
    const key = rememberedKey(c.env, text);
    return key === undefined ? wellFormedKey(c.env, text).then((parsed) => begin(c, parsed)) : begin(c, key);
  });
}

/** Begins a request with a key. A refusal is returned, not thrown: refusals are frequent, and a stack trace takes 0.02 ms. */
function begin(c: Context<KeyEnv>, key: WellFormedKey | null) {
  if (!key) return refuseStranger(c, INVALID_KEY);
  c.set("key", key);
  return undefined;
}

/**
 * `permit` for a route that only reads. A route that writes states its action with its permission, so that no act is
 * without a row in the audit log: `acts` and `daily` in `keys/access.ts`.
 */
export function requirePermission<E extends KeyEnv>(
  permission: ReadNeed | null,
  meanwhile?: (c: Context<E>) => void,
): Before<E> {
  return permit(permission, meanwhile);
}

/**
 * Middleware for one route: asks the key's object to admit the request. All later responses, errors too, have the
 * key's rate limit headers. A session needs only the permission, and no key counts its requests.
 *
 * @param permission null: any valid key may call the route
 * @param meanwhile starts work during that call; its result must not reach the client unless the key is admitted
 * @returns a middleware that says what it needs, which the OpenAPI documents read
 */
export function permit<E extends KeyEnv>(
  permission: Need | null,
  meanwhile?: (c: Context<E>) => void,
): Before<E> & { need: Need | null } {
  const permitKey = before<E>(async (c) => {
    const known = c.get("session")?.caller ?? c.get("admitted");
    if (known) {
      const error = refusedNeed(known, permission);
      if (error) throw error;
      c.set("caller", known);
      return undefined;
    }
    const key = c.get("key");
    if (!key) throw new Error(`${routePath(c)} has no guard`);
    // On Cloudflare's network a client can't set this header.
    const address = c.req.header("CF-Connecting-IP") ?? null;
    const asking = { ...key, address, permission };
    const admission = await admit(c.env, c.executionCtx, asking, meanwhile && (() => meanwhile(c)));
    if (admission.outcome === "refused") {
      if (admission.reason === "invalid_api_key") return refuseStranger(c, INVALID_KEY);
      const isLimited = admission.reason === "rate_limited";
      const error = isLimited ? limitReply(admission) : refusal(admission, permission, address);
      return errorResponse(error, c.get("responseHeaders"));
    }
    c.set("caller", admission.caller);
    Object.assign(c.get("responseHeaders").own, limitHeaders(admission.window));
    return undefined;
  });
  return Object.assign(permitKey, { need: permission });
}

/** The newest ones, because each has headers of 9 KB in the runtime's memory. */
const limitReplies = new BoundedMap<RefusedAdmission, { seconds: number; reply: ErrorReply }>(500);

/** The error for a key over its limit. Its refusal is remembered, so the error stays the same while `Retry-After` does. */
function limitReply(refused: RefusedAdmission): ErrorReply {
  const seconds = secondsUntil(refused.window?.reset ?? 0);
  let known = limitReplies.get(refused);
  if (known?.seconds !== seconds) limitReplies.set(refused, (known = { seconds, reply: refusal(refused, null, null) }));
  return known.reply;
}

/** The error for a refused client. */
export function refusal(
  { reason, window }: Pick<RefusedAdmission, "reason" | "window">,
  permission: Need | null,
  address: string | null,
): ErrorReply {
  const headers = window && reason !== "invalid_api_key" ? limitHeaders(window) : {};
  switch (reason) {
    case "permission_denied":
      return { code: reason, text: lackText(permission), headers };
    case "ip_not_allowed":
      return { code: reason, text: addressText(address), headers };
    case "rate_limited":
      return { code: reason, headers: { ...headers, "Retry-After": String(secondsUntil(window?.reset ?? 0)) } };
    default:
      return { code: reason, headers };
  }
}

function addressText(address: string | null): string {
  if (address === null) return "The request has no client address";
  return isSharedByWorkers(address)
    ? `The address ${address} belongs to all Cloudflare Workers, which have none of their own, so no ipAllowlist lets it in. Use a key without one`
    : `The address ${address} is not allowed. Add it to the key's ipAllowlist`;
}

/** The error for a key or a session that may not do what needs `need`; null if it may. */
export function refusedNeed(caller: Caller, need: Need | null): ApiError | null {
  const lack = lackOf(caller, need);
  if (need === null || lack === null) return null;
  if (caller.principal.type === "key") return new ApiError(lack, refusal({ reason: lack, window: null }, need, null));
  const { permissions } = caller;
  const lacked = neededPermissions(need).filter((each) => !permissions.includes(each));
  return new ApiError("permission_denied", {
    text: `You lack the permission ${lacked.join(needsOnlyOne(need) ? " or " : " and ")}. Ask someone who can manage members`,
  });
}

function lackText(permission: Need | null): string {
  const needed = permission === null ? [] : neededPermissions(permission);
  if (permission !== null && needsOnlyOne(permission)) {
    return `The API key lacks the permissions ${listed(needed)}. Use a key that has one of them`;
  }
  return needed.length > 1
    ? `The API key lacks one of the permissions ${listed(needed)}. Use a key that has them`
    : `The API key lacks the permission ${needed[0]}. Use a key that has it`;
}

function listed(permissions: readonly Permission[]): string {
  return `${permissions.slice(0, -1).join(", ")} and ${permissions.at(-1)}`;
}

/**
 * The rate limit headers: the three of the specification and the two of the IETF draft.
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
function limitHeaders({ limit, windowSeconds, remaining, reset }: WindowState): Record<string, string> {
  return {
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(Math.ceil(reset / 1_000)),
    "RateLimit-Policy": `"default";q=${limit};w=${windowSeconds}`,
    RateLimit: `"default";r=${remaining};t=${secondsUntil(reset)}`,
  };
}

function secondsUntil(time: number): number {
  return Math.max(1, Math.ceil((time - Date.now()) / 1_000));
}
