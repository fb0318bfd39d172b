import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { KeyVariables } from "../keys/guard.ts";

export interface RequestVariables {
  requestId: string;
}

type LogEnv = { Bindings: Env; Variables: RequestVariables & Partial<KeyVariables> };

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
