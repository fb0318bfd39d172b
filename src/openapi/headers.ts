import type { JsonSchema } from "./json-schema.ts";

interface Header {
  description: string;
  required: boolean;
  schema: JsonSchema;
  example: string | number;
}

/** A header that every answer of its kind has. */
function header(description: string, schema: JsonSchema, example: string | number): Header {
  return { description, required: true, schema, example };
}

const count: JsonSchema = { type: "integer", minimum: 0 };

/** Where a key stands after this request. */
const LIMITS = {
  "X-RateLimit-Limit": header("How many requests a window of the key admits.", count, 300),
  "X-RateLimit-Remaining": header("How many are left in the running window.", count, 299),
  "X-RateLimit-Reset": header("When the window ends: Unix time in seconds, rounded up.", count, 1_795_168_877),
  "RateLimit-Policy": header(
    "The same limit as the IETF's draft writes it: `q` requests in `w` seconds.",
    { type: "string", pattern: '^"default";q=\\d+;w=\\d+$' },
    '"default";q=300;w=60',
  ),
  RateLimit: header(
    "And what is left: `r` requests, for `t` seconds.",
    { type: "string", pattern: '^"default";r=\\d+;t=\\d+$' },
    '"default";r=299;t=60',
  ),
};

const OTHERS = {
  "X-Request-Id": header(
    "The request's id, under which the service's log has it.",
    { type: "string", format: "uuid" },
    "7a1f3c52-0c57-4e0e-9f0b-7e5c1f6f2f10",
  ),
  "Retry-After": header("How many seconds to wait before the next try.", { type: "integer", minimum: 1 }, 12),
  "WWW-Authenticate": header("How to authenticate.", { type: "string", const: "Bearer" }, "Bearer"),
  ETag: header(
    "The tag of exactly this answer, for `If-None-Match`.",
    { type: "string", pattern: '^"[0-9a-f]{32}"$' },
    '"5f2c1a0d9be84c3f7a6e0d1b2c3a4f5e"',
  ),
};

/** The headers that a document's `components` hold. */
export const HEADERS = { ...LIMITS, ...OTHERS };
export type HeaderName = keyof typeof HEADERS;

/** The five that tell a key's limits. */
export const LIMIT_HEADERS = Object.keys(LIMITS) as HeaderName[];

/** References to headers that an answer always has. */
export function always(names: readonly HeaderName[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Headers that an answer may have. */
export function sometimes(names: readonly HeaderName[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { ...HEADERS[name], required: false }]));
}
