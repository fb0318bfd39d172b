import type { MiddlewareHandler } from "hono";
import { ownHostOf, webhookRoutesFor } from "../webhooks/routes.ts";
import { OPERATOR } from "../webhooks/webhook-rows.ts";
import { audit } from "./guard.ts";

/** `authenticateOperator` runs before all of the operator's routes. */
const proceed: MiddlewareHandler = (_c, next) => next();

/** The webhooks of all organizations. */
export const operatorWebhookRoutes = webhookRoutesFor({
  list: "/organizations/:id/webhooks",
  reads: proceed,
  writes: proceed,
  scopeOf: (c) => ({ organizationId: null, actor: OPERATOR, ownHost: ownHostOf(c) }),
  organizationOf: (c) => c.req.param("id") ?? "",
  onChange: audit,
});
