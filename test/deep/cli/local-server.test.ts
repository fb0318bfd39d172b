import { afterAll, beforeAll, expect, test } from "vitest";
import { DevServer } from "../../support/world/dev-server.ts";
import { createChannel, createChat, createKey, createOrganization } from "../../support/world/factories.ts";
import { chunked, exchange, head, type Raw } from "../../wire/raw.ts";

const MIB = 1_024 * 1_024;

let server: DevServer;
let key: Record<string, string>;
let messages: string;
let webhook: string;
let genuine: Record<string, string>;
beforeAll(async () => {
  server = await DevServer.begin();
  const organization = await createOrganization(server.world);
  key = { Authorization: `Bearer ${(await createKey(organization)).secret}` };
  const telegram = await createChannel(organization, { kind: "telegram" });
  const chat = await createChat(await createChannel(organization));
  messages = `/api/v1/chats/${chat.id}/messages`;
  webhook = `/hooks/telegram/${telegram.id}`;
  genuine = { "X-Telegram-Bot-Api-Secret-Token": telegram.webhook.verifyToken };
});
afterAll(() => server.end());

/** The response to a request with a body of this size. */
function askWithBody(line: string, headers: Record<string, string>, size: number, inChunks: boolean): Promise<Raw[]> {
  const body = new Uint8Array(size).fill(0x78);
  const framing = inChunks ? { "Transfer-Encoding": "chunked" } : { "Content-Length": String(size) };
  const first = [head(line, { ...headers, ...framing }), ...(inChunks ? chunked(body) : [body])];
  return exchange(new URL(server.base), first);
}

/** A send on a new connection. The local proxy reuses its connection to the Worker, so a broken one shows here. */
async function send(): Promise<number | undefined> {
  const body = '{"content":"Hello"}';
  const [answer] = await exchange(new URL(server.base), [
    head(`POST ${messages}`, { ...key, "Content-Length": String(body.length) }),
    body,
  ]);
  return answer?.status;
}

test.each([
  ["401", 401, () => ["POST /api/v1/chats", {}] as const, 3 * MIB],
  ["404", 404, () => ["POST /nowhere", {}] as const, 3 * MIB],
  ["404 with a key", 404, () => ["POST /api/v1/nowhere", key] as const, 3 * MIB],
  ["405", 405, () => ["PUT /healthz", {}] as const, 3 * MIB],
  ["413", 413, () => [`POST ${messages}`, key] as const, 70_000],
  ["413", 413, () => [`POST ${messages}`, key] as const, 3 * MIB],
  ["401 of a webhook", 401, () => [`POST ${webhook}`, {}] as const, 5 * MIB],
  ["413 of a webhook", 413, () => [`POST ${webhook}`, genuine] as const, 5 * MIB],
])("a refused large body does not break the next request: %s (%#)", async (_, status, request, size) => {
  for (const inChunks of [true, false]) {
    const [line, headers] = request();
    const [answer] = await askWithBody(line, headers, size, inChunks);
    expect(answer?.status).toBe(status);
    expect([await send(), await send()]).toEqual([201, 201]);
  }
});

const PAGE = {
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};
const OURS = { "cross-origin-resource-policy": "same-origin" };

test.each([
  ["/docs", { ...PAGE, ...OURS }],
  ["/docs/operator", { ...PAGE, ...OURS }],
  ["/web-assets/chat.js", OURS],
  ["/web-assets/docs.css", OURS],
  ["/api/v1/openapi.json", OURS],
  ["/llms.txt", OURS],
  ["/widget.js", { "cross-origin-resource-policy": "cross-origin" }],
])("the static file %s has its headers, and a 405 names its methods", async (path, expected) => {
  const { status, headers } = await fetch(new URL(path, server.base));
  expect([status, Object.fromEntries(headers)]).toEqual([200, expect.objectContaining(expected)]);
  const refused = await fetch(new URL(path, server.base), { method: "POST", body: "{}" });
  expect([refused.status, refused.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
});
