import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";

export interface RequestVariables {
  requestId: string;
  /** What the answer will carry, whatever it is, where it says nothing else of it. */
  answerHeaders: Record<string, string>;
}

/** What a guard found out about who asks. */
interface Asking {
  key: { id: string };
  caller: { organizationId: string };
}

/** No answer is kept, guessed the kind of, framed or run, or told of to the next site, unless it says so itself. */
const SAFE = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
/** By http this header must not be sent (RFC 6797, 7.2). */
const SAFE_BY_HTTPS = { ...SAFE, "Strict-Transport-Security": "max-age=31536000" };

type LogEnv = { Bindings: Env; Variables: RequestVariables & Partial<Asking> };

/**
 * Gives each request an id, which its answer carries in `X-Request-Id`, and writes one line of these fields alone:
 * never a token, a body, an address, or a URL, which may hold one.
 */
export function requestLog(): MiddlewareHandler<LogEnv> {
  return async function logRequest(c, next) {
    const start = Date.now();
    const requestId = crypto.randomUUID();
    const answerHeaders = { "X-Request-Id": requestId, ...(c.req.url.startsWith("https:") ? SAFE_BY_HTTPS : SAFE) };
    c.set("requestId", requestId);
    c.set("answerHeaders", answerHeaders);
    await next();
    // One that `json` made has them from its making, which is cheaper.
    if (!c.res.headers.has("X-Request-Id")) {
      for (const [name, value] of Object.entries(answerHeaders)) {
        if (!c.res.headers.has(name)) c.res.headers.set(name, value);
      }
    }
    // As text: the runtime takes 0.03 ms of a request's 0.15 to spell an object out.
    console.log(
      JSON.stringify({
        event: "request",
        requestId,
        method: c.req.method,
        route: routePath(c),
        status: c.res.status,
        ms: Date.now() - start,
        keyId: c.get("key")?.id,
        organizationId: c.get("caller")?.organizationId,
      }),
    );
  };
}
