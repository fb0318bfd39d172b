import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newSharingIsolate } from "../../deep/models/isolates.ts";
import { admitAfter, countRoundTrips } from "../../support/faults.ts";
import { admin, client, newChat, newKey, newOrganization } from "../../support/harness.ts";
import { neverRing } from "../../support/timers.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";

stopTheClock();

/** A key that has read a chat and the list of chats. */
async function readingKey() {
  const { api, organizationId, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const { key, secret } = await newKey(organizationId);
  const paths = [`/chats/${chat.id}/messages`, "/chats"];
  for (const path of paths) expect((await client(secret)("GET", path)).status).toBe(200);
  const change = async (body: object) => expect((await admin("PATCH", `/keys/${key.id}`, body)).status).toBe(200);
  return { keyId: key.id, secret, paths, change };
}

function countCalls() {
  const roundTrips = countRoundTrips();
  const [keys, chats] = [env.KEYS, env.CHATS].map((namespace) => vi.spyOn(namespace, "getByName"));
  return () => ({ keys: keys?.mock.calls.length, chats: chats?.mock.calls.length, directory: roundTrips() });
}

const REFUSALS: [string, object, number, object][] = [
  ["its permissions", { permissions: ["messages:send"] }, 403, { permissions: ["chats:read", "messages:read"] }],
  ["the client's address", { ipAllowlist: ["192.0.2.1"] }, 403, { ipAllowlist: [] }],
  ["its quota", { monthlyQuota: 2 }, 403, { monthlyQuota: 20 }],
  ["its expiry", { expiresAt: "2020-01-01T00:00:00Z" }, 401, { expiresAt: null }],
];

test.each(REFUSALS)(
  "a request with a key refused for %s makes one call to the key's object, and reads nothing ahead",
  async (_reason, narrowed, status, widened) => {
    const { secret, paths, change } = await readingKey();
    const api = client(secret);
    await change(narrowed);
    for (const path of paths) expect((await api("GET", path)).status).toBe(status);
    const counted = countCalls();
    for (let n = 0; n < 20; n++) expect((await api("GET", paths[n % 2] ?? "")).status).toBe(status);
    expect(counted()).toEqual({ keys: 20, chats: 0, directory: 0 });
    vi.restoreAllMocks();
    await change(widened);
    for (const path of paths) expect((await api("GET", path)).status).toBe(200);
  },
);

test.each(REFUSALS)(
  "two hundred concurrent requests with a key refused for %s share three calls to its object",
  async (_reason, narrowed, status, widened) => {
    const { secret, paths, change } = await readingKey();
    const ask = newSharingIsolate();
    const get = (path = "") => ask(secret, "GET", `/api/v1${path}`);
    for (const path of paths) expect((await get(path)).status).toBe(200);
    await change(narrowed);
    expect((await get(paths[0])).status).toBe(status);
    // No request gives up waiting and makes its own call.
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const counted = countCalls();
    const answers = await Promise.all(Array.from({ length: 200 }, () => get(paths[0])));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]));
    expect(counted()).toEqual({ keys: 3, chats: 0, directory: 0 });
    vi.restoreAllMocks();
    await change(widened);
    expect((await get(paths[0])).status).toBe(200);
  },
);

test("a refused address that moves within its network reads nothing ahead, and delays no other client", async () => {
  const { secret, paths, change } = await readingKey();
  await change({ ipAllowlist: ["192.0.2.1"] });
  const from = (address: string) => client(secret)("GET", paths[0] ?? "", undefined, { "CF-Connecting-IP": address });
  expect((await from("192.0.2.1")).status).toBe(200);
  expect((await from("2001:db8::1")).status).toBe(403);
  const counted = countCalls();
  for (let n = 2; n < 10; n++) expect((await from(`2001:db8::${n}`)).status).toBe(403);
  expect(counted()).toEqual({ keys: 8, chats: 0, directory: 0 });
  vi.restoreAllMocks();
  admitAfter("CHATS");
  expect((await from("192.0.2.1")).status).toBe(200);
});

test("a key that is accepted again reads ahead from its second request on", async () => {
  const { secret, paths, change } = await readingKey();
  const read = () => client(secret)("GET", paths[0] ?? "");
  await change({ permissions: [] });
  expect((await read()).status).toBe(403);
  await change({ permissions: null });
  expect((await read()).status).toBe(200);
  admitAfter("CHATS");
  expect((await read()).status).toBe(200);
});

test("requests with a revoked key from many addresses make one call a second", async () => {
  const { keyId, secret } = await readingKey();
  expect((await admin("DELETE", `/keys/${keyId}`)).status).toBe(200);
  // The report of the refusals, which comes after two seconds, stays out.
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
  const counted = countCalls();
  for (let n = 1; n <= 10; n++) {
    const headers = { "CF-Connecting-IP": `192.0.2.${n}` };
    for (const path of ["/chats", "/key"]) {
      expect((await client(secret)("GET", path, undefined, headers)).status).toBe(401);
    }
  }
  expect(counted()).toMatchObject({ keys: 1, chats: 0 });
});

test("the errors of the newest 500 keys and addresses over their limits are kept, because each takes kilobytes", async () => {
  // The report of the refusals, which comes after two seconds, would come into the next file.
  neverRing(2_000);
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId, { rateLimit: { limit: 1, windowSeconds: 3_600 } });
  const api = client(secret);
  expect((await api("GET", "/key")).status).toBe(200);
  let made = 0;
  class CountedHeaders extends Headers {
    constructor(...given: ConstructorParameters<typeof Headers>) {
      super(...given);
      made++;
    }
  }
  vi.stubGlobal("Headers", CountedHeaders);
  /** How many headers are made for a refusal of the nth address. */
  const madeFor = async (n: number) => {
    const before = made;
    const address = { "CF-Connecting-IP": `10.0.${n >> 8}.${n & 255}` };
    expect((await api("GET", "/key", undefined, address)).status).toBe(429);
    return made - before;
  };
  for (let n = 0; n < 501; n++) await madeFor(n);
  const [kept, dropped] = [await madeFor(500), await madeFor(0)];
  expect(dropped - kept).toBe(2);
});
