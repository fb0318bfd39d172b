import type { Context } from "hono";

/** What a program finds at `/`. The links are below the same origin. */
export const ROOT = { name: "Parley", docs: "/docs", openapi: "/api/v1/openapi.json", health: "/healthz" } as const;

/** `GET /`: a browser goes to the documentation, a program gets links. */
export function answerRoot(c: Context): Response {
  c.header("Vary", "Accept");
  const isBrowser = c.req.header("Accept")?.includes("text/html") ?? false;
  return isBrowser ? c.redirect(ROOT.docs) : c.json(ROOT);
}
