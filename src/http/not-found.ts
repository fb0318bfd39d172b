import type { Context } from "hono";
import { ApiError } from "../model/error.ts";
import { PLAIN_PAGE_HEADERS, plainPage } from "../platform/html.ts";
import { errorResponse } from "./error-response.ts";

const PAGE = plainPage({
  title: "Page not found",
  heading: "This page doesn’t exist",
  text: 'Check the link, or start at <a href="/docs">the documentation</a>.',
});

/** A 404: a page for a browser that looks for one below /docs or /web, and JSON for everything else. */
export function answerNotFound(c: Context): Response {
  const isBrowser = c.req.header("Accept")?.includes("text/html") ?? false;
  const isPage = ["GET", "HEAD"].includes(c.req.method) && /^\/(docs|web)\//.test(c.req.path);
  if (isBrowser && isPage) return c.body(PAGE, 404, PLAIN_PAGE_HEADERS);
  return errorResponse(new ApiError("not_found"), c.get("responseHeaders"));
}
