import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CREDENTIALS, createChannel, createChat, createKey, createOrganization } from "../support/world/factories.ts";
import { type Service, startService } from "../support/world/service.ts";
import { chunked, exchange, head, type Raw } from "./raw.ts";

const KIB = 1_024;

let service: Service;
let place: Awaited<ReturnType<typeof furnish>>;
beforeAll(async () => {
  service = await startService();
  place = await furnish();
});
afterAll(() => service.stop());

async function furnish() {
  const organization = await createOrganization(service.world);
  const { secret } = await createKey(organization);
  const whatsapp = await createChannel(organization, { kind: "whatsapp" });
  const chat = await createChat(await createChannel(organization));
  return { secret, hook: `/hooks/whatsapp/${whatsapp.id}`, messages: `/api/v1/chats/${chat.id}/messages` };
}

const key = () => ({ Authorization: `Bearer ${place.secret}` });
const bytes = (text: string) => new TextEncoder().encode(text);
const total = async (): Promise<number> =>
  (await service.world.call(place.secret, "GET", place.messages)).body.pagination.total;

/** A send of this size, valid except for the size. */
function sendOf(size: number): Uint8Array {
  const text = JSON.stringify({ content: "Hello", padding: "" });
  return bytes(text.replace('""', `"${"x".repeat(size - text.length)}"`));
}

/** A genuine notification of this size, without content. */
function hookOf(size: number): { body: Uint8Array; signature: string } {
  const body = bytes(`{"object":"whatsapp_business_account","entry":[]}`.padEnd(size, " "));
  return {
    body,
    signature: `sha256=${createHmac("sha256", CREDENTIALS.whatsapp.appSecret).update(body).digest("hex")}`,
  };
}

/**
 * `sent`: how much of the body follows the head. A server that refuses a body by its length does not read
 * it, and closes the connection.
 */
async function post(
  path: string,
  headers: Record<string, string>,
  body: Uint8Array,
  isChunked: boolean,
  sent = body.length,
): Promise<Raw> {
  const framing = isChunked ? { "Transfer-Encoding": "chunked" } : { "Content-Length": String(body.length) };
  const [answer] = await exchange(service.url, [
    head(`POST ${path}`, { ...headers, ...framing }),
    ...(isChunked ? chunked(body) : [body.subarray(0, sent)]),
  ]);
  if (!answer) throw new Error("The server hung up without an answer");
  return answer;
}

const FRAMINGS = [
  ["with a Content-Length", false],
  ["in chunks", true],
] as const;

test.each(FRAMINGS)(
  "a send of 64 KiB %s is a 201, and one byte more a 413 that stores nothing",
  async (_, isChunked) => {
    const before = await total();
    expect((await post(place.messages, key(), sendOf(64 * KIB - 1), isChunked)).status).toBe(201);
    expect((await post(place.messages, key(), sendOf(64 * KIB), isChunked)).status).toBe(201);
    const answer = await post(place.messages, key(), sendOf(64 * KIB + 1), isChunked, KIB);
    expect([answer.status, JSON.parse(bodyOf(answer)).code]).toEqual([413, "body_too_large"]);
    expect(await total()).toBe(before + 2);
  },
);

test.each(FRAMINGS)("a webhook of 4 MiB %s is accepted, and one byte more is a 413", async (_, isChunked) => {
  for (const [size, status] of [
    [4 * KIB * KIB - 1, 200],
    [4 * KIB * KIB, 200],
    [4 * KIB * KIB + 1, 413],
  ] as const) {
    const { body, signature } = hookOf(size);
    const sent = status === 413 ? KIB : size;
    const answer = await post(place.hook, { "X-Hub-Signature-256": signature }, body, isChunked, sent);
    expect(answer.status, String(size)).toBe(status);
  }
});

test.each([
  ["4,096 letters", "ü".repeat(4_096), 201],
  ["4,097 letters", "ü".repeat(4_097), 400],
  ["2,048 pairs", "😀".repeat(2_048), 201],
  ["2,048 pairs and a letter", `${"😀".repeat(2_048)}a`, 400],
  ["a letter and 2,048 pairs", `a${"😀".repeat(2_048)}`, 400],
  ["4,095 letters and a pair, which is 4,097 units", `${"a".repeat(4_095)}😀`, 400],
  ["4,094 letters and a pair", `${"a".repeat(4_094)}😀`, 201],
])("content of %s is counted in UTF-16 units", async (_, content, status) => {
  const body = bytes(JSON.stringify({ content }));
  const answer = await post(place.messages, key(), body, false);
  expect(answer.status).toBe(status);
  if (status === 201) expect(JSON.parse(utf8(bodyOf(answer))).message.content).toBe(content);
});

test("a body that arrives byte by byte is read completely, and one that never ends stores nothing", async () => {
  const body = bytes(JSON.stringify({ content: "Slowly" }));
  const pieces = [...body].map((byte) => Uint8Array.of(byte));
  const start = head(`POST ${place.messages}`, { ...key(), "Content-Length": String(body.length) });
  const [answer] = await exchange(service.url, [start, ...pieces]);
  expect(answer?.status).toBe(201);
  const before = await total();
  const hangUp = () => Promise.reject(new Error("hung up"));
  await expect(exchange(service.url, [start, body.subarray(0, 5), hangUp])).rejects.toThrow("hung up");
  expect(await total()).toBe(before);
});

/** Requests that a proxy and a server could read as two requests, or differently. */
const TWO_WAYS: [string, () => (string | Uint8Array)[]][] = [
  [
    "both a Content-Length and chunks",
    () => [
      head(`POST ${place.messages}`, { ...key(), "Content-Length": "6", "Transfer-Encoding": "chunked" }),
      "0\r\n\r\nG",
    ],
  ],
  [
    "two different Content-Lengths",
    () => [head(`POST ${place.messages}`, { ...key(), "Content-Length": ["19", "2"] }), '{"content":"Hello"}'],
  ],
  [
    "a Content-Length that is a list",
    () => [head(`POST ${place.messages}`, { ...key(), "Content-Length": "19, 19" }), '{"content":"Hello"}'],
  ],
  [
    "a Content-Length with a sign",
    () => [head(`POST ${place.messages}`, { ...key(), "Content-Length": "+19" }), '{"content":"Hello"}'],
  ],
  ["a negative Content-Length", () => [head(`POST ${place.messages}`, { ...key(), "Content-Length": "-1" }), "{}"]],
  [
    "chunks twice",
    () => [
      head(`POST ${place.messages}`, { ...key(), "Transfer-Encoding": ["chunked", "identity"] }),
      ...chunked(bytes('{"content":"Hello"}')),
    ],
  ],
  [
    "an encoding that is almost chunked",
    () => [
      head(`POST ${place.messages}`, { ...key(), "Transfer-Encoding": "xchunked" }),
      ...chunked(bytes('{"content":"Hello"}')),
    ],
  ],
  [
    "a space before the colon",
    () => [
      head(`POST ${place.messages}`, { ...key(), "Transfer-Encoding ": "chunked", "Content-Length": "5" }),
      "0\r\n\r\n",
    ],
  ],
  [
    "a folded header",
    () => [
      head(`POST ${place.messages}`, { ...key(), "X-Fold": "a\r\n Transfer-Encoding: chunked", "Content-Length": "5" }),
      "0\r\n\r\n",
    ],
  ],
  [
    "a chunk whose size is not a number",
    () => [
      head(`POST ${place.messages}`, { ...key(), "Transfer-Encoding": "chunked" }),
      'zz\r\n{"content":"Hello"}\r\n0\r\n\r\n',
    ],
  ],
];

/** Refused by our routes, or by the runtime before them, with a 500 that names no request. */
function expectRefused({ status, head: told }: Raw): void {
  if (status === 500) expect(told).not.toMatch(/x-request-id/i);
  else expect([400, 401, 404, 405, 501]).toContain(status);
}

test.each(TWO_WAYS)("a request with %s is refused, and nothing after it is read as a request", async (_, pieces) => {
  const before = await total();
  const inner = `${head(`POST ${place.messages}`, { ...key(), "Content-Length": "19" })}{"content":"Inner"}`;
  const answers = await exchange(service.url, [...pieces(), inner, head("GET /healthz", { Connection: "close" })], {
    answers: 4,
  });
  expect([1, 2]).toContain(answers.length);
  for (const answer of answers) expectRefused(answer);
  expect(await total()).toBe(before);
});

test.each([
  ["an absolute URL of this service", () => `GET ${service.url.origin}/api/v1/chats`],
  ["an absolute URL of another server", () => "GET http://169.254.169.254/api/v1/chats"],
  ["a path with dots", () => "GET /healthz/../api/v1/chats"],
  ["a path with escaped dots", () => "GET /healthz/%2e%2e/api/v1/chats"],
  ["a path with a doubled slash", () => "GET //api/v1/chats"],
  ["an escaped slash", () => "GET /api%2fv1/chats"],
  ["another case", () => "GET /API/v1/chats"],
])("%s gives no access", async (_, line) => {
  const answers = await exchange(service.url, [head(line())]);
  expect(answers).toHaveLength(1);
  for (const answer of answers) expectRefused(answer);
});

test.each(["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])(
  "%s does not change the method",
  async (name) => {
    const before = await total();
    const [answer] = await exchange(service.url, [
      head(`GET ${place.messages}`, { ...key(), [name]: "POST", "Content-Length": "19" }),
      '{"content":"Hello"}',
    ]);
    expect(answer?.status).toBe(200);
    expect(await total()).toBe(before);
  },
);

test.each(["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Path"])("%s does not change the path", async (name) => {
  const [answer] = await exchange(service.url, [head("GET /api/v1/chats", { [name]: "/healthz" })]);
  expect(answer?.status).toBe(401);
});

test.each(["HEAD", "OPTIONS", "GET", "PUT", "TRACE", "CONNECT", "PROPFIND"])(
  "%s gives no access without a key",
  async (method) => {
    for (const path of ["/api/v1/chats", "/admin/v1/organizations", place.messages]) {
      const request = head(`${method} ${path}`, { Connection: "close" });
      const answers = await exchange(service.url, [request], { isHead: method === "HEAD" });
      expect(answers).toHaveLength(1);
      for (const answer of answers) expectRefused(answer);
    }
  },
);

test("of two keys in a request, one in a second header does not count", async () => {
  const wrong = "Bearer ply_gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  const [answer] = await exchange(service.url, [
    head("GET /api/v1/key", { Authorization: [wrong, `Bearer ${place.secret}`] }),
  ]);
  expect(answer?.status).toBe(401);
});

test("two Idempotency-Key headers are a 400", async () => {
  const headers = { ...key(), "Idempotency-Key": ["order-7", "order-8"], "Content-Length": "19" };
  const [answer] = await exchange(service.url, [head(`POST ${place.messages}`, headers), '{"content":"Hello"}']);
  expect([answer?.status, answer?.body]).toEqual([400, expect.stringContaining("Idempotency-Key")]);
});

test("invalid characters in headers and a head that is too long give no access and don't stop the server", async () => {
  const [odd] = await exchange(service.url, [head("GET /api/v1/key", { ...key(), "X-Name": "\xe9\xff" })]);
  expect(odd?.status).toBe(200);
  const long = await exchange(service.url, [head("GET /api/v1/key", { ...key(), "X-Long": "x".repeat(1_000_000) })]);
  expect(long.map(({ status }) => status)).toEqual([expect.toBeOneOf([400, 431])]);
  expect((await exchange(service.url, [head("GET /healthz")]))[0]?.status).toBe(200);
});

/** The body of a response, chunked or not. */
function bodyOf({ head: ofAnswer, body }: Raw): string {
  if (!/transfer-encoding: chunked/i.test(ofAnswer)) return body;
  let text = "";
  for (let rest = body; ; ) {
    const at = rest.indexOf("\r\n");
    const size = Number.parseInt(rest.slice(0, at), 16);
    if (!(size > 0)) return text;
    text += rest.slice(at + 2, at + 2 + size);
    rest = rest.slice(at + 4 + size);
  }
}

const utf8 = (latin1: string) => Buffer.from(latin1, "latin1").toString("utf8");
