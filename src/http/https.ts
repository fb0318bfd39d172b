import { ApiError } from "../model/error.ts";
import { type Before, before } from "./before.ts";

/** The pages of the Worker: `/`, a web chat, and the console without its API. A static file never gets here. */
const PAGE = /^\/(web\/[^/]+|console(\/(?!(api|passkey|access)(\/|$)).*)?)?$/;

/**
 * Middleware: refuses plain http once the service is deployed, because the request has sent its secrets in clear. Pages,
 * which people open from a typed address, lead to https.
 *
 * Cloudflare adds `CF-Ray` to each request, and no setting of a zone can remove it. No local server adds it. One behind a
 * tunnel of Cloudflare is called over http too, so `CF-Visitor` says how the visitor came.
 * @see https://developers.cloudflare.com/fundamentals/reference/http-headers/
 */
export function requireHttps(): Before {
  return before(({ req, redirect }) => {
    if (req.url.startsWith("https:") || req.header("CF-Ray") === undefined) return undefined;
    if (req.header("CF-Visitor")?.includes('"https"')) return undefined;
    const isPage = (req.method === "GET" || req.method === "HEAD") && PAGE.test(req.path);
    if (isPage) return redirect(req.url.replace(/^http:/, "https:"), 308);
    throw new ApiError("https_required");
  });
}
