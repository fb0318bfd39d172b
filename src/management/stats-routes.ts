import { Hono } from "hono/quick";
import { validQuery } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { readStats, statsQuery } from "./stats.ts";
import { historyQuery, readHistory } from "./stats-history.ts";

export const statsRoutes = new Hono<AdminEnv>().get("/stats", validQuery(statsQuery), async (c) => {
  const { organization, ...query } = c.req.valid("query");
  return c.json(await readStats(c.env, "any", organization, query));
});

export function historyRoutesFor({ needs, actorOf }: Access): Hono<AdminEnv> {
  return new Hono<AdminEnv>().get("/stats/history", needs("stats:read"), validQuery(historyQuery), async (c) => {
    return c.json({ history: await readHistory(c.env, actorOf(c).scope, c.req.valid("query")) });
  }) as Hono<AdminEnv>;
}
