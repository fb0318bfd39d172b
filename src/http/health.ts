import type { Context } from "hono";
import { VERSION } from "../model/version.ts";
import { isDeployed } from "./https.ts";

/** `GET /healthz`. It calls nothing, so it says only that the Worker runs, and which one. */
export function answerHealth({ env, req, json }: Context<{ Bindings: Env }>): Response {
  // A local runtime makes up an id at each start. A Worker that was deployed with other bindings has none.
  const id = (env.DEPLOYED as Env["DEPLOYED"] | undefined)?.id ?? null;
  return json({ ok: true, version: VERSION, build: isDeployed(req) ? id : null });
}
