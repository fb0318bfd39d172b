import type { Context } from "hono";
import { VERSION } from "../model/version.ts";

/** `GET /healthz`. It calls nothing, so it says only that the Worker runs, and which one. */
export function answerHealth(c: Context<{ Bindings: Env }>): Response {
  return c.json({ ok: true, version: VERSION, build: buildOf(c.env, c.req.url) });
}

/**
 * The id of the deployed version, as wrangler lists it; null if the Worker is not deployed. A local runtime makes up an id
 * at each start.
 */
function buildOf(env: Env, url: string): string | null {
  const { hostname } = new URL(url);
  const isLocal = /^(?:.+\.)?localhost$|^127\.|^\[::1\]$/.test(hostname);
  const isStarted = env.WEBHOOKS_ALLOW_LOCAL === "true";
  // A Worker that was deployed with other bindings has no id.
  return isLocal || isStarted ? null : ((env.DEPLOYED as Env["DEPLOYED"] | undefined)?.id ?? null);
}
