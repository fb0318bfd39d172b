/** JSON as it lies, with the tag by which a client that has it already is spared it. */
export interface TaggedJson {
  /** In UTF-8. */
  body: Uint8Array;
  /** A strong entity tag, quoted. */
  tag: string;
}

/** A body that is JSON already: documents go from where they are kept to the client as they lie. */
export function json(body: string | Uint8Array, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { "Content-Type": "application/json", ...headers } });
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
export function unlessMatched(ifNoneMatch: string | undefined, { body, tag }: TaggedJson): Response {
  const headers = { ETag: tag };
  return isMatch(ifNoneMatch, tag) ? new Response(null, { status: 304, headers }) : json(body, 200, headers);
}

/** Compared weakly, as the header wants it: a proxy that compresses may have made the tag a weak one. */
function isMatch(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const names = ifNoneMatch.split(",").map((name) => name.trim());
  return names.includes("*") || names.includes(tag) || names.includes(`W/${tag}`);
}
