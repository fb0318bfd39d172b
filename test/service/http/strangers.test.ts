import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { COUNTED_TOGETHER } from "../../../src/http/abuse-limit.ts";
import { newId } from "../../../src/model/id.ts";
import { countRoundTrips } from "../../support/faults.ts";
import { type Answer, admin, call, client, expectError, newKey, newOrganization } from "../../support/harness.ts";
import { connect, visit } from "../../support/sockets.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { newContact, place } from "../inbound/fixtures.ts";
import { fromTelegram, taken, telegramText } from "../inbound/webhook-calls.ts";

stopTheClock();

// The count of each address begins at 0.
beforeEach(() => void vi.spyOn(Math, "random").mockReturnValue(0));

let addresses = 0;
/** An address that no other test uses. */
const newAddress = () => `10.9.${++addresses >> 8}.${addresses & 255}`;

/**
 * A fake rate limiter that allows a number of calls for each name. Returns the names of the calls, each for fifty
 * requests.
 */
function countTo(limit: number): string[] {
  const names: string[] = [];
  vi.spyOn(env.STRANGERS, "limit").mockImplementation(async ({ key }) => {
    names.push(key);
    return { success: names.filter((name) => name === key).length <= limit };
  });
  return names;
}

/** Repeats a request until the next one of its address is counted. */
async function uncounted(run: () => Promise<unknown>, counts = 0): Promise<void> {
  for (let n = 1; n < COUNTED_TOGETHER * (counts + 1); n++) await run();
}

const from = (address: string, authorization?: string) => ({
  "CF-Connecting-IP": address,
  ...(authorization !== undefined && { Authorization: authorization }),
});

function expectTooMany(answer: Answer): void {
  expectError(answer, 429, "rate_limited", /^Rate limit exceeded$/);
  expect(answer.headers.get("Retry-After")).toBe("10");
  expect(answer.headers.get("X-RateLimit-Limit")).toBe("600");
  expect(answer.headers.get("X-RateLimit-Remaining")).toBe("0");
  expect(answer.headers.get("X-RateLimit-Reset")).toBe(String(Math.ceil(Date.now() / 1_000) + 10));
  expect(answer.headers.get("WWW-Authenticate")).toBeNull();
}

test("the platform's rate limiter exists, and allows the first request of an address", async () => {
  expect(await env.STRANGERS.limit({ key: `test ${crypto.randomUUID()}` })).toEqual({ success: true });
});

test.each<[string, string, () => Promise<string | undefined>, string]>([
  ["no key", "/api/v1/chats", async () => undefined, "missing_authorization"],
  ["a forged key", "/api/v1/chats", async () => "Bearer ply_g", "invalid_api_key"],
  ["a revoked key", "/api/v1/key", revokedKey, "invalid_api_key"],
  ["no token", "/admin/v1/organizations", async () => undefined, "missing_authorization"],
  ["a wrong token", "/admin/v1/organizations", async () => "Bearer guessed", "invalid_api_key"],
])("an address with %s is blocked after a number of requests", async (_, path, authorization, code) => {
  const headers = from(newAddress(), await authorization());
  countTo(1);
  await uncounted(async () => expectError(await call("GET", path, { headers }), 401, code), 1);
  for (const _ of [1, 2]) expectTooMany(await call("GET", path, { headers }));
  expectError(await call("GET", path, { headers: { ...headers, ...from(newAddress()) } }), 401, code);
});

test("a blocked address is not counted for ten seconds, and then immediately", async () => {
  const names = countTo(1);
  const headers = from(newAddress());
  const ask = () => call("GET", "/api/v1/chats", { headers });
  await uncounted(ask, 1);
  expect(names).toHaveLength(1);
  await uncounted(ask, 1);
  expect(names).toHaveLength(2);
  vi.setSystemTime(Date.now() + 10_000);
  await ask();
  expect(names).toHaveLength(3);
});

test("a valid key is accepted from a blocked address, and is not counted", async () => {
  const { secret } = await newKey((await newOrganization()).organizationId);
  const names = countTo(0);
  const address = newAddress();
  const ask = () => call("GET", "/api/v1/key", { headers: from(address) });
  await uncounted(ask);
  expectTooMany(await ask());
  expect((await client(secret)("GET", "/key", undefined, from(address))).status).toBe(200);
  expect((await client(secret)("GET", "/chats/cht_1", undefined, from(address))).status).toBe(404);
  expect(names).toEqual([`api ${address}`]);
});

test("the operator's token is not compared for a blocked address", async () => {
  countTo(0);
  const address = newAddress();
  const right = from(address, `Bearer ${env.ADMIN_TOKEN}`);
  const guess = () => call("GET", "/admin/v1/organizations", { headers: from(address, "Bearer guessed") });
  await uncounted(guess);
  expectTooMany(await guess());
  expectTooMany(await call("GET", "/admin/v1/organizations", { headers: right }));
  expect((await admin("GET", "/organizations")).status).toBe(200);
  vi.setSystemTime(Date.now() + 10_000);
  expect((await call("GET", "/admin/v1/organizations", { headers: right })).status).toBe(200);
});

test("with 400 guessed tokens from one address, only the counted ones are compared", async () => {
  vi.spyOn(console, "log").mockReturnValue();
  const names = countTo(5);
  const address = newAddress();
  const digests = vi.spyOn(crypto.subtle, "digest");
  const statuses = new Map<number, number>();
  for (let n = 0; n < 400; n++) {
    const headers = from(address, `Bearer ${env.ADMIN_TOKEN.slice(0, -4)}${n}`);
    const { status } = await call("GET", "/admin/v1/organizations", { headers });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  const heard = 6 * COUNTED_TOGETHER - 1;
  expect([...statuses]).toEqual([
    [401, heard],
    [429, 400 - heard],
  ]);
  // The request over the limit was compared, and then blocked.
  expect([names.length, digests.mock.calls.length]).toEqual([6, 2 * (heard + 1)]);
});

test("an address that is blocked from the API can still use the operator's API and the web chat", async () => {
  const { channelId } = await newOrganization();
  const names = countTo(1);
  const address = newAddress();
  const ask = () => call("GET", "/api/v1/chats", { headers: from(address) });
  await uncounted(ask, 1);
  expectTooMany(await ask());
  const operator = from(address, `Bearer ${env.ADMIN_TOKEN}`);
  expect((await call("GET", "/admin/v1/organizations", { headers: operator })).status).toBe(200);
  expect((await call("GET", `/web/${channelId}`, { headers: from(address) })).status).toBe(200);
  await uncounted(() => call("GET", `/web/${channelId}`, { headers: from(address) }));
  expect(names).toEqual([`api ${address}`, `api ${address}`, `web ${address}`]);
});

test("the addresses of one subscriber share a counter, and so do requests without an address", async () => {
  const names = countTo(9);
  const ask = (headers: Record<string, string>) => call("GET", "/api/v1/chats", { headers });
  await uncounted(() => ask(from("2001:db8:1:2::3")));
  await ask(from("2001:db8:1:2:ffff::9"));
  await uncounted(() => ask(from("::ffff:192.0.2.1")));
  await ask(from("192.0.2.1"));
  await uncounted(() => ask({}));
  await ask({ "X-Forwarded-For": "192.0.2.1" });
  expect(names).toEqual(["api 20010db800010002::/64", "api 192.0.2.1", "api "]);
});

test("if the rate limiter fails, no one is blocked, and no one gets access", async () => {
  vi.spyOn(env.STRANGERS, "limit").mockRejectedValue(new Error("Network connection lost."));
  const errors = vi.spyOn(console, "error").mockReturnValue();
  const headers = from(newAddress());
  const refused = async () =>
    expectError(await call("GET", "/api/v1/chats", { headers }), 401, "missing_authorization");
  await uncounted(refused);
  expect(errors).not.toHaveBeenCalled();
  await refused();
  expect(JSON.stringify(errors.mock.calls)).toContain("abuse_limit_failed");
});

test("forged webhooks from one address are blocked, and then only channels in use can be reached from it", async () => {
  const at = await place("telegram");
  const other = await place("telegram");
  const address = newAddress();
  const update = telegramText(newContact(), "Hello");
  const genuine = (to: typeof at) => ({
    ...from(address),
    "X-Telegram-Bot-Api-Secret-Token": to.channel.webhook.verifyToken,
  });
  const names = countTo(1);
  taken(await fromTelegram(at.channel, update, genuine(at)));
  expect(names).toEqual([]);
  const forged = { ...from(address), "X-Telegram-Bot-Api-Secret-Token": "forged" };
  await uncounted(
    async () => expectError(await fromTelegram(at.channel, update, forged), 401, "webhook_not_genuine"),
    1,
  );
  expectTooMany(await fromTelegram(at.channel, update, forged));
  const roundTrips = countRoundTrips();
  for (const _ of [1, 2, 3]) {
    const nobody = { ...at.channel, id: newId("chn", null) };
    expectTooMany(await fromTelegram(nobody, update, forged));
  }
  expectTooMany(await fromTelegram(other.channel, update, genuine(other)));
  expect(roundTrips()).toBe(0);
  // The network calls for other channels from the same address.
  taken(await fromTelegram(at.channel, telegramText(newContact(), "Hello"), genuine(at)));
  taken(
    await fromTelegram(other.channel, update, { "X-Telegram-Bot-Api-Secret-Token": other.channel.webhook.verifyToken }),
  );
});

test("refused handshakes are counted", async () => {
  const { channel } = await place("whatsapp");
  countTo(1);
  const shake = () => call("GET", `/hooks/whatsapp/${channel.id}?hub.mode=subscribe`, { headers: from(address) });
  const address = newAddress();
  await uncounted(async () => expectError(await shake(), 403, "handshake_refused"), 1);
  expectTooMany(await shake());
});

test("after a number of pages, an address is blocked, and its pages need no calls", async () => {
  const { channelId } = await newOrganization();
  countTo(1);
  const headers = from(newAddress());
  const open = async () => expect((await call("GET", `/web/${channelId}`, { headers })).status).toBe(200);
  await uncounted(open, 1);
  const roundTrips = countRoundTrips();
  expectTooMany(await call("GET", `/web/${newId("chn", null)}`, { headers }));
  expect(roundTrips()).toBe(0);
});

test("a socket over the limit is closed with 1013, which the page can read, and calls no object", async () => {
  const { channelId } = await newOrganization();
  countTo(1);
  const address = newAddress();
  const { page } = await visit(channelId, { from: address });
  await uncounted(() => call("GET", `/web/${channelId}`, { headers: from(address) }), 1);
  const objects = vi.spyOn(env.CHATS, "getByName");
  expect(await (await connect(channelId, { from: address })).closed).toBe(1013);
  expect(objects).not.toHaveBeenCalled();
  expect((await page.ask({ type: "ping" })).type).toBe("pong");
});

async function revokedKey(): Promise<string> {
  const { key, secret } = await newKey((await newOrganization()).organizationId);
  await admin("DELETE", `/keys/${key.id}`);
  return `Bearer ${secret}`;
}
