import { Hono } from "hono/quick";
import type { RequestVariables } from "../http/request-log.ts";
import { noQuery } from "../http/validation.ts";
import { ApiError } from "../model/error.ts";
import { describeKey } from "./admit.ts";
import { type KeyVariables, requirePermission } from "./guard.ts";

/** `GET /key`: a key reads its own properties and usage. */
export const ownKeyRoutes = new Hono<{ Bindings: Env; Variables: RequestVariables & KeyVariables }>().get(
  "/key",
  requirePermission(null),
  noQuery,
  async (c) => {
    const described = await describeKey(c.env, c.var.caller.principal.id);
    if (!described) throw new ApiError("invalid_api_key");
    return c.json(described);
  },
);
