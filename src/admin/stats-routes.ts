import { Hono } from "hono";
import { validQuery } from "../http/validation.ts";
import type { AdminEnv } from "./guard.ts";
import { readStats, statsQuery } from "./stats.ts";

/** Statistics for the operator. */
export const statsRoutes = new Hono<AdminEnv>().get("/stats", validQuery(statsQuery), async (c) => {
  const { organization, ...page } = c.req.valid("query");
  return c.json(await readStats(c.env, "any", organization, page));
});
