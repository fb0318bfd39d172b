import type { HonoRequest } from "hono";
import type { RequestVariables } from "./request-log.ts";
import { createJsonResponse } from "./response.ts";

export interface JsonWithETag {
  /** In UTF-8. */
  body: Uint8Array;
  /** A strong entity tag, with its quotes. */
  etag: string;
}

/** The part of a request's context that a response needs. */
interface ResponseContext {
  get(name: "responseHeaders"): RequestVariables["responseHeaders"];
  req: Pick<HonoRequest, "header">;
}

/** A response with a body that is JSON already, so that stored documents are not parsed and written again. */
export function json(
  c: ResponseContext,
  body: string | Uint8Array,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  return createJsonResponse(body, status, c.get("responseHeaders"), headers);
}

/** The response to a request that created something, or whose idempotency key was used: then `replayed` is true. */
export function created(c: ResponseContext, body: string, replayed: boolean): Response {
  return json(c, body, 201, replayed ? { "Idempotent-Replayed": "true" } : {});
}

/** Adds the `ETag` to JSON. It is a hash of the bytes, so equal bodies have equal tags in every isolate. */
export async function withETag(text: string | Uint8Array): Promise<JsonWithETag> {
  const body = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const digest = await crypto.subtle.digest("SHA-256", body);
  return { body, etag: `"${new Uint8Array(digest, 0, 16).toHex()}"` };
}

/**
 * The JSON, or an empty 304 if the client's `If-None-Match` contains its `ETag`.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2
 */
export function jsonOrNotModified(c: ResponseContext, { body, etag }: JsonWithETag): Response {
  if (!matchesETag(c.req.header("If-None-Match"), etag)) return json(c, body, 200, { ETag: etag });
  return createJsonResponse(null, 304, c.get("responseHeaders"), { ETag: etag });
}

/** The weak comparison that `If-None-Match` requires: a proxy that compresses can make a tag weak. */
function matchesETag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim());
  return tags.includes("*") || tags.includes(etag) || tags.includes(`W/${etag}`);
}
