import type { HonoRequest } from "hono";
import type { RequestVariables } from "./request-log.ts";

/** JSON as it lies, with the tag by which a client that has it already is spared it. */
export interface TaggedJson {
  /** In UTF-8. */
  body: Uint8Array;
  /** A strong entity tag, quoted. */
  tag: string;
}

/** What is needed of a request's context to answer it. */
interface AnswerContext {
  get(name: "answerHeaders"): RequestVariables["answerHeaders"];
  req: Pick<HonoRequest, "header">;
}

/** A body that is JSON already: documents go from where they are kept to the client as they lie. */
export function json(
  c: AnswerContext,
  body: string | Uint8Array,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  const type = { "Content-Type": "application/json" };
  return new Response(body, { status, headers: { ...c.get("answerHeaders"), ...type, ...headers } });
}

/** Gives JSON its tag, which is of its bytes, so that it means the same wherever and whenever it was made. */
export async function tagged(text: string | Uint8Array): Promise<TaggedJson> {
  const body = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const digest = await crypto.subtle.digest("SHA-256", body);
  return { body, tag: `"${new Uint8Array(digest, 0, 16).toHex()}"` };
}

/**
 * The JSON; or 304 without it, where the client's `If-None-Match` names its tag.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2
 */
export function unlessMatched(c: AnswerContext, { body, tag }: TaggedJson): Response {
  if (!isMatch(c.req.header("If-None-Match"), tag)) return json(c, body, 200, { ETag: tag });
  return new Response(null, { status: 304, headers: { ...c.get("answerHeaders"), ETag: tag } });
}

/** Compared weakly, as the header wants it: a proxy that compresses may have made the tag a weak one. */
function isMatch(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const names = ifNoneMatch.split(",").map((name) => name.trim());
  return names.includes("*") || names.includes(tag) || names.includes(`W/${tag}`);
}
