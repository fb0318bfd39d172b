import { Hono } from "hono";
import { callObject, NEARBY } from "../calls/call-object.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { noQuery } from "../http/validation.ts";
import { ApiError } from "../model/error.ts";
import { type KeyVariables, requirePermission } from "./guard.ts";

/** `GET /key`: a key reads its own properties and usage. */
export const ownKeyRoutes = new Hono<{ Bindings: Env; Variables: RequestVariables & KeyVariables }>().get(
  "/key",
  requirePermission(null),
  noQuery,
  async (c) => {
    const { id } = c.var.caller.principal;
    const described = await callObject(c.env.KEYS, id, (key) => key.describe(id), NEARBY);
    if (!described) throw new ApiError("invalid_api_key");
    return c.json(described);
  },
);
