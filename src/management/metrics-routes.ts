import { accepts } from "hono/accepts";
import { Hono } from "hono/quick";
import { validQuery } from "../http/validation.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { metricsQuery, readMetrics } from "./metrics.ts";
import { METRIC_TYPES, writeMetrics } from "./metrics-text.ts";

const TYPES = Object.keys(METRIC_TYPES) as (keyof typeof METRIC_TYPES)[];

/** Its `Link` header names the next page. */
export const metricsRoutes = new Hono<AdminEnv>().get("/metrics", validQuery(metricsQuery), async (c) => {
  const page = await readMetrics(c.env, c.req.valid("query").after);
  const type = accepts(c, { header: "Accept", supports: TYPES, default: "application/openmetrics-text" });
  return c.body(writeMetrics(page, type as keyof typeof METRIC_TYPES), 200, {
    "Content-Type": METRIC_TYPES[type as keyof typeof METRIC_TYPES],
    ...(page.next !== null && { Link: `</admin/v1/metrics?after=${page.next}>; rel="next"` }),
  });
});
