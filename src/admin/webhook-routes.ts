import type { MiddlewareHandler } from "hono";
import { ownHostOf, webhookRoutesFor } from "../webhooks/routes.ts";
import { audit } from "./guard.ts";
import { OPERATOR } from "./scope.ts";

/** `authenticateOperator` runs before all of the operator's routes. */
const proceed: MiddlewareHandler = (_c, next) => next();

/** The webhooks of all organizations. */
export const operatorWebhookRoutes = webhookRoutesFor({
  list: "/organizations/:id/webhooks",
  reads: proceed,
  writes: proceed,
  scopeOf: (c) => ({ scope: "any", actor: OPERATOR, ownHost: ownHostOf(c) }),
  organizationOf: (c) => c.req.param("id") ?? "",
  onChange: audit,
});
