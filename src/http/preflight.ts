import type { MiddlewareHandler } from "hono";
import { ApiError } from "./errors.ts";

/** The methods of the APIs. A preflight has no key, so that its answer must not say which of them a path has. */
const METHODS = "GET, HEAD, POST, PATCH, DELETE";

/**
 * Answers a browser's preflight, which never carries a key, with 405 and the reason instead of a 401 that misleads.
 * @see https://fetch.spec.whatwg.org/#cors-preflight-fetch
 */
export function refusePreflight(): MiddlewareHandler {
  return async function refusePreflightRequest(c, next) {
    const isPreflight = c.req.method === "OPTIONS" && c.req.header("Access-Control-Request-Method") !== undefined;
    if (isPreflight && c.req.header("Authorization") === undefined) {
      const text = "Browsers can't call this API: call it from a server, where its key stays secret";
      throw new ApiError("method_not_allowed", { text, headers: { Allow: METHODS } });
    }
    await next();
  };
}
