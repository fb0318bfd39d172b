import type { HonoRequest } from "hono";
import { ApiError } from "../model/error.ts";
import { type Before, before } from "./before.ts";

/** The pages of the Worker: `/`, a web chat, and the console without its API. A static file never gets here. */
const PAGE = /^\/(web\/[^/]+|console(\/(?!(api|passkey|access)(\/|$)).*)?)?$/;

/**
 * Whether a request came through Cloudflare, which adds `CF-Ray` to each: no setting of a zone can remove it, and no local
 * server adds it.
 */
export function isDeployed(req: Pick<HonoRequest, "header">): boolean {
  return req.header("CF-Ray") !== undefined;
}

/**
 * Middleware: refuses plain http once the service is deployed, because the request has sent its secrets in clear. Pages,
 * which people open from a typed address, lead to https. A local server behind a tunnel of Cloudflare is called over http
 * too, so `CF-Visitor` says how the visitor came.
 * @see https://developers.cloudflare.com/fundamentals/reference/http-headers/
 */
export function requireHttps(): Before {
  return before(({ req, redirect }) => {
    if (req.url.startsWith("https:") || !isDeployed(req)) return undefined;
    if (req.header("CF-Visitor")?.includes('"https"')) return undefined;
    const isPage = (req.method === "GET" || req.method === "HEAD") && PAGE.test(req.path);
    if (isPage) return redirect(req.url.replace(/^http:/, "https:"), 308);
    throw new ApiError("https_required");
  });
}
