import type { JsonSchema } from "./json-schema.ts";

interface Header {
  description: string;
  required: boolean;
  schema: JsonSchema;
  example: string | number;
}

/** A header that is always present in its kind of response. */
function header(description: string, schema: JsonSchema, example: string | number): Header {
  return { description, required: true, schema, example };
}

const count: JsonSchema = { type: "integer", minimum: 0 };

/** The state of the key's rate limit after this request. */
const LIMITS = {
  "X-RateLimit-Limit": header("The maximum number of requests in a window.", count, 300),
  "X-RateLimit-Remaining": header("The number of requests left in the current window.", count, 299),
  "X-RateLimit-Reset": header("When the window ends, in Unix seconds, rounded up.", count, 1_795_168_877),
  "RateLimit-Policy": header(
    "The limit in the form of the IETF draft: `q` requests in `w` seconds.",
    { type: "string", pattern: '^"default";q=\\d+;w=\\d+$' },
    '"default";q=300;w=60',
  ),
  RateLimit: header(
    "What is left, in the form of the IETF draft: `r` requests for the next `t` seconds.",
    { type: "string", pattern: '^"default";r=\\d+;t=\\d+$' },
    '"default";r=299;t=60',
  ),
};

const OTHERS = {
  "X-Request-Id": header(
    "The request's id in the service's log. Quote it when you report a problem.",
    { type: "string", format: "uuid" },
    "7a1f3c52-0c57-4e0e-9f0b-7e5c1f6f2f10",
  ),
  "Retry-After": header("The number of seconds to wait before the next try.", { type: "integer", minimum: 1 }, 12),
  "WWW-Authenticate": header("How to authenticate.", { type: "string", const: "Bearer" }, "Bearer"),
  ETag: header(
    "A tag for this response. Send it as `If-None-Match` with the next request.",
    { type: "string", pattern: '^"[0-9a-f]{32}"$' },
    '"5f2c1a0d9be84c3f7a6e0d1b2c3a4f5e"',
  ),
};

/** The headers in a document's `components`. */
export const HEADERS = { ...LIMITS, ...OTHERS };
export type HeaderName = keyof typeof HEADERS;

/** The headers about a key's rate limit. */
export const LIMIT_HEADERS = Object.keys(LIMITS) as HeaderName[];

/** References to headers that are always present. */
export function always(names: readonly HeaderName[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Headers that can be absent. */
export function sometimes(names: readonly HeaderName[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { ...HEADERS[name], required: false }]));
}
