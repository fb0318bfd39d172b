import { ApiError } from "../model/error.ts";
import { type Before, before } from "./before.ts";

/** All methods of the APIs. A preflight has no key, so its response must not reveal a path's own methods. */
const METHODS = "GET, HEAD, POST, PATCH, DELETE";

/**
 * Returns 405 and the reason for a browser's preflight. It never has a key, and a 401 would be misleading.
 * @see https://fetch.spec.whatwg.org/#cors-preflight-fetch
 */
export function refusePreflight(): Before {
  return before((c) => {
    const isPreflight = c.req.method === "OPTIONS" && c.req.header("Access-Control-Request-Method") !== undefined;
    if (isPreflight && c.req.header("Authorization") === undefined) {
      const text = "Browsers can't call this API: call it from a server, where its key stays secret";
      throw new ApiError("method_not_allowed", { text, headers: { Allow: METHODS } });
    }
    return undefined;
  });
}
