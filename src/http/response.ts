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

/** The headers of every response to a request. */
export interface ResponseHeaders {
  /** Whether the request came over https. */
  isSecure: boolean;
  /** The headers of this request alone. A route can override them and the defaults. */
  own: Record<string, string>;
}

const COMPLETE = Symbol("complete");

/** Whether a response was made by `createJsonResponse`, with all its headers. */
export function hasAllHeaders(response: Response & { [COMPLETE]?: true }): boolean {
  return response[COMPLETE] === true;
}

/** All headers of every response to a request. */
export function allHeaders({ isSecure, own }: ResponseHeaders): Record<string, string> {
  return { ...(isSecure ? SECURE_DEFAULTS : DEFAULTS), ...own };
}

/** The default headers and more, for JSON responses, over http and over https. */
export interface HeaderTemplate {
  /** What is not by default. It wins over the headers of a request. */
  more: Record<string, string>;
  plain: Headers;
  secure: Headers;
}

/** Prepares headers that many responses have: setting one takes longer than copying all. */
export function headerTemplate(more: Record<string, string>): HeaderTemplate {
  return {
    more,
    plain: new Headers({ ...DEFAULTS, ...JSON_TYPE, ...more }),
    secure: new Headers({ ...SECURE_DEFAULTS, ...JSON_TYPE, ...more }),
  };
}

const TEMPLATE = headerTemplate({});

/** A response with JSON, or with nothing. `headers` come last. */
export function createJsonResponse(
  body: string | Uint8Array | null,
  status: number,
  { isSecure, own }: ResponseHeaders,
  headers: Record<string, string> | null,
  template: HeaderTemplate = TEMPLATE,
): Response {
  const response: Response & { [COMPLETE]?: true } = new Response(body, {
    status,
    headers: isSecure ? template.secure : template.plain,
  });
  const all = response.headers;
  for (const name in own) if (!(name in template.more)) all.set(name, own[name] as string);
  for (const name in headers) all.set(name, headers[name] as string);
  if (body === null) all.delete("Content-Type");
  response[COMPLETE] = true;
  return response;
}
