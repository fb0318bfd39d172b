import type { Context } from "hono";

/** The response to a program at `/`. The links are relative to the origin. */
export const ROOT = { name: "Parley", docs: "/docs", openapi: "/api/v1/openapi.json", health: "/healthz" } as const;

/** `GET /`: redirects browsers to the documentation, and returns links to programs. */
export function answerRoot(c: Context): Response {
  c.header("Vary", "Accept");
  const isBrowser = c.req.header("Accept")?.includes("text/html") ?? false;
  return isBrowser ? c.redirect(ROOT.docs) : c.json(ROOT);
}
