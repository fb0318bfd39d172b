import { Hono } from "hono";
import { noQuery } from "../http/validation.ts";
import { auditedInLog } from "../keys/audited.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { resealAll } from "./reseal.ts";

/** `POST /reseal`, for the operator. It belongs to no organization, so only the service's log has a line of it. */
export const resealRoutes = new Hono<AdminEnv>().post("/reseal", noQuery, auditedInLog("service.reseal"), async (c) => {
  return c.json(await resealAll(c.env));
});
