import type { Context, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { refuseStranger } from "../http/abuse-limit.ts";
import { bearerToken } from "../http/bearer.ts";
import { errorResponse, type ToldError } from "../http/errors.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { admit, type RefusedAdmission } from "./admit.ts";
import type { WindowState } from "./decide.ts";
import type { Caller } from "./key-object.ts";
import type { Permission } from "./permissions.ts";
import { type WellFormedKey, wellFormedKey } from "./well-formed-key.ts";

/** What a guarded route finds in its context. */
export interface KeyVariables {
  key: WellFormedKey;
  caller: Caller;
}

type KeyEnv = { Bindings: Env; Variables: RequestVariables & KeyVariables };

/**
 * For the whole prefix: the header, and the form and check letters of the key, which no one else needs to be asked
 * about. A route that answers without having asked `permit` is a fault of ours, and its answer does not leave.
 */
export function authenticate(): MiddlewareHandler<KeyEnv> {
  return async function authenticateKey(c, next) {
    const key = await wellFormedKey(c.env, bearerToken(c));
    // Not thrown, here and below: whoever is refused comes often, and a trace of the stack costs 0.02 ms.
    if (!key) return refuseStranger(c, { code: "invalid_api_key" });
    c.set("key", key);
    await next();
    if (!c.get("caller") && c.res.ok)
      throw new Error(`${c.req.method} ${routePath(c)} answered without a permission line`);
    return;
  };
}

/**
 * For one route: asks the key's own object whether this request may pass, with `permission`, or with any valid key
 * where that is null. From here on every answer, an error too, carries the key's limits.
 *
 * @param meanwhile begins what can be begun while the object is asked; nothing of it leaves unless the key is admitted
 */
export function requirePermission<E extends KeyEnv>(
  permission: Permission | null,
  meanwhile?: (c: Context<E>) => void,
): MiddlewareHandler<E> {
  return async function permitKey(c, next) {
    // The one header that a client cannot set on Cloudflare's network.
    const address = c.req.header("CF-Connecting-IP") ?? null;
    const asking = { ...c.get("key"), address, permission };
    const admission = await admit(c.env, c.executionCtx, asking, meanwhile && (() => meanwhile(c)));
    if (admission.outcome === "refused") {
      const error = refusal(admission, permission, address);
      if (error.code === "invalid_api_key") return refuseStranger(c, error);
      return errorResponse(error, c.get("answerHeaders"));
    }
    c.set("caller", admission.caller);
    Object.assign(c.get("answerHeaders"), limitHeaders(admission.window));
    return next();
  };
}

/** What a refused client is told. */
function refusal(
  { reason, window }: RefusedAdmission,
  permission: Permission | null,
  address: string | null,
): ToldError {
  const headers = window && reason !== "invalid_api_key" ? limitHeaders(window) : {};
  switch (reason) {
    case "permission_denied":
      return { code: reason, text: `The API key lacks the permission ${permission}`, headers };
    case "ip_not_allowed": {
      const text = address === null ? "The request has no client address" : `The address ${address} is not allowed`;
      return { code: reason, text, headers };
    }
    case "rate_limited":
      return { code: reason, headers: { ...headers, "Retry-After": String(secondsUntil(window?.reset ?? 0)) } };
    default:
      return { code: reason, headers };
  }
}

/**
 * The limits of a key, in the three headers of the interface and in the two of the IETF's draft.
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
