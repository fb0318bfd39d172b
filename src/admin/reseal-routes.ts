import { Hono } from "hono";
import { noQuery } from "../http/validation.ts";
import { type AdminEnv, audit } from "./guard.ts";
import { resealAll } from "./reseal.ts";

/** `POST /reseal`, for the operator. */
export const resealRoutes = new Hono<AdminEnv>().post("/reseal", noQuery, async (c) => {
  // Logged first: a reseal that fails has also changed channels.
  audit(c, null);
  return c.json(await resealAll(c.env));
});
