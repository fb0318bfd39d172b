import fc from "fast-check";
import { type Body, bodiesOf } from "./bodies.ts";
import { notifications, updates } from "./network-calls.ts";
import { SHAPES, type Shape, valuesFor } from "./routes.ts";
import { idOf, oddText } from "./values.ts";

/** One request, before the ids of the place are put in: `@cht:3` is one of its chats. */
export interface Drawn {
  route: string;
  method: string;
  path: string;
  query: [string, string][];
  headers: Record<string, string>;
  /** Who asks: the operator or a key as the route wants it, a network that signs; or someone else. */
  caller: "right" | "narrow" | "other" | "nobody" | "forged" | "odd";
  body: Body | null;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];

const TYPES = [
  "application/json",
  "application/json; charset=utf-16",
  "text/plain",
  "application/xml",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "",
  ";;",
  "a/b".repeat(500),
];

/** ASCII: what else a header may be, the runtime of the tests only warns of. */
const headerValue = fc.oneof(
  oddText.map((text) => text.replace(/[^\t\x20-\x7e]/g, "?").trim()),
  fc.constantFrom("x".repeat(255), "x".repeat(256), "y".repeat(8_000), "gzip", "0", "bytes=0-1", "100-continue", "*"),
);
const headers = fc.dictionary(
  fc.constantFrom(
    "Idempotency-Key",
    "If-None-Match",
    "If-Match",
    "CF-Connecting-IP",
    "X-Forwarded-For",
    "X-HTTP-Method-Override",
    "X-Request-Id",
    "Accept",
    "Accept-Language",
    "Content-Encoding",
    "Cookie",
    "Origin",
    "Range",
    "Referer",
    "X-Original-URL",
    "Upgrade",
    "Sec-WebSocket-Protocol",
  ),
  headerValue,
  { maxKeys: 2, noNullPrototype: true },
);

const spoiltPath: fc.Arbitrary<(path: string) => string>[] = [
  fc
    .constantFrom("/", "//", "/..", "/%2e%2e/", "%00", "%", "%zz", "%ED%A0", ";a=b", ".json", "/x/y")
    .map((tail) => (path) => path + tail),
  fc.constant((path) => path.toUpperCase()),
  fc.constant((path) => path.replace("/v1", "/v1/")),
  // Not the first one: a target that begins with none is no HTTP, and the server before the Worker answers it.
  fc.constant((path) => path.replace(/(?<=.)\/(?=[^/]*$)/, "%2f")),
  fc.constant((path) => `/${path}`),
];

function idsFor({ ids = [], ends = false }: Shape): fc.Arbitrary<string[]> {
  const each = ids.map((prefix) =>
    fc.oneof(
      { weight: 20, arbitrary: idOf(ends && prefix !== "own" ? `born-${prefix}` : prefix) },
      { weight: 1, arbitrary: idOf("nobody") },
      { weight: 1, arbitrary: oddText.map((text) => (text.isWellFormed() ? encodeURIComponent(text) : "%ED%A0")) },
    ),
  );
  return fc.tuple(...each);
}

function queriesFor(shape: Shape): fc.Arbitrary<[string, string][]> {
  const drawn = valuesFor(shape.query)?.map((value) =>
    Object.entries(value ?? {}).map(([name, each]): [string, string] => [
      name,
      // An object may have no text of its own.
      typeof each === "object" ? JSON.stringify(each) : String(each),
    ]),
  );
  const names = fc.constantFrom("page", "limit", "before", "after", "channel", "contact", "__proto__", "hub.mode", "q");
  const others = fc.array(fc.tuple(names, fc.oneof(oddText, fc.constantFrom("1", "20"))), { maxLength: 3 });
  const few = fc.oneof({ weight: 8, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: others });
  return fc.tuple(drawn ? fc.oneof(drawn, fc.constant([])) : fc.constant([]), few).map((both) => both.flat());
}

function bodyFor(route: string, { body }: Shape): fc.Arbitrary<Body> | null {
  if (route.startsWith("POST /hooks/")) return bodiesOf(route.includes("telegram") ? updates : notifications);
  const values = valuesFor(body);
  return values && bodiesOf(values);
}

function requestsTo(route: string, shape: Shape): fc.Arbitrary<Drawn> {
  const [usual = "", pattern = ""] = route.split(" ");
  const own = bodyFor(route, shape) ?? fc.constant(null);
  const caller = fc.oneof(
    { weight: 30, arbitrary: fc.constant("right" as const) },
    { weight: 2, arbitrary: fc.constantFrom("narrow", "other", "nobody", "forged", "odd") },
  );
  return fc
    .record({
      method: fc.oneof(
        { weight: 30, arbitrary: fc.constant(usual) },
        { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
      ),
      ids: idsFor(shape),
      spoil: fc.oneof(
        { weight: 40, arbitrary: fc.constant((path: string) => path) },
        { weight: 1, arbitrary: fc.oneof(...spoiltPath) },
      ),
      query: queriesFor(shape),
      headers: fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: headers }),
      type: fc.option(fc.constantFrom(...TYPES), { nil: null, freq: 2 }),
      caller,
      body: own,
    })
    .map(({ method, ids, spoil, query, headers: given, type, caller: who, body }) => {
      let nth = 0;
      const isEnd = SHAPES[`${method} ${pattern}`]?.ends === true;
      const met = isEnd ? ids.map((id) => id.replace(/^@(?!born-|own:)/, "@born-")) : ids;
      const path = spoil(pattern.replace(/:\w+/g, () => met[nth++] ?? ""));
      const all = { ...(body && type !== null && { "Content-Type": type }), ...given };
      return { route, method, path, query, headers: all, caller: who, body };
    });
}

/** Requests to all routes, those of clients most often. */
export const requests: fc.Arbitrary<Drawn> = fc.oneof(
  ...Object.entries(SHAPES).map(([route, shape]) => ({
    weight: Math.ceil((shape.weight ?? 1) * 50),
    arbitrary: requestsTo(route, shape),
  })),
);
