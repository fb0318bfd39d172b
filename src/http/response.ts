/** Default headers: no caching, sniffing, framing, scripts or referrer. */
const DEFAULTS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
/** A response over http must not have this header (RFC 6797, 7.2). */
const SECURE_DEFAULTS = { ...DEFAULTS, "Strict-Transport-Security": "max-age=31536000" };

const JSON_TYPE = { "Content-Type": "application/json" };
/** The runtime copies a `Headers` faster than an object with the same entries. */
const TEMPLATES = {
  plain: new Headers({ ...DEFAULTS, ...JSON_TYPE }),
  secure: new Headers({ ...SECURE_DEFAULTS, ...JSON_TYPE }),
};

/** The headers of every response to a request. */
export interface ResponseHeaders {
  /** Whether the request came over https. */
  isSecure: boolean;
  /** The headers of this request alone. A route can override them and the defaults. */
  own: Record<string, string>;
}

/** All headers of every response to a request. */
export function allHeaders({ isSecure, own }: ResponseHeaders): Record<string, string> {
  return { ...(isSecure ? SECURE_DEFAULTS : DEFAULTS), ...own };
}

/** A response with JSON, or with nothing. `headers` come last. */
export function createJsonResponse(
  body: string | Uint8Array | null,
  status: number,
  { isSecure, own }: ResponseHeaders,
  headers: Record<string, string>,
): Response {
  const response = new Response(body, { status, headers: isSecure ? TEMPLATES.secure : TEMPLATES.plain });
  for (const name in own) response.headers.set(name, own[name] as string);
  for (const name in headers) response.headers.set(name, headers[name] as string);
  if (body === null) response.headers.delete("Content-Type");
  return response;
}
