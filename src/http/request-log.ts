import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";

export interface RequestVariables {
  requestId: string;
}

/** What a guard found out about who asks. */
interface Asking {
  key: { id: string };
  caller: { organizationId: string };
}

type LogEnv = { Bindings: Env; Variables: RequestVariables & Partial<Asking> };

/**
 * Gives each request an id, which its answer carries in `X-Request-Id`, and writes one line of these fields alone:
 * never a token, a body, an address, or a URL, which may hold one.
 */
export function requestLog(): MiddlewareHandler<LogEnv> {
  return async function logRequest(c, next) {
    const start = Date.now();
    const requestId = crypto.randomUUID();
    c.set("requestId", requestId);
    await next();
    c.res.headers.set("X-Request-Id", requestId);
    console.log({
      event: "request",
      requestId,
      method: c.req.method,
      route: routePath(c),
      status: c.res.status,
      ms: Date.now() - start,
      keyId: c.var.key?.id,
      organizationId: c.var.caller?.organizationId,
    });
  };
}
