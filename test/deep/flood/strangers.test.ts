import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newKeyText } from "../../../src/keys/key-text.ts";
import { wellFormedKey } from "../../../src/keys/well-formed-key.ts";
import { newId, randomBase62 } from "../../../src/model/id.ts";
import { stopTheClock } from "../../service/chats/object/delivery/conversation.ts";
import { countRoundTrips, NAMESPACES, watchSteps } from "../../support/faults.ts";
import { admin, call, client, expectError, newKey, newOrganization } from "../../support/harness.ts";
import { connect } from "../../support/sockets.ts";
import { heldBy, NOTHING } from "../../support/stored.ts";
import { neverRing } from "../../support/timers.ts";
import { directoryRows } from "./rows.ts";

// No key's alarm, which reports to its organization, rings amid a count of calls.
stopTheClock();

/** The number of calls to objects and to the directory from here on. */
function countAll(): () => { objects: number; directory: number } {
  const objects = NAMESPACES.map((name) => vi.spyOn(env[name] as { getByName(name: string): unknown }, "getByName"));
  const directory = countRoundTrips();
  return () => ({ objects: objects.reduce((sum, spy) => sum + spy.mock.calls.length, 0), directory: directory() });
}

const FORGED = 10_000;
/** How many of them are sent as requests. */
const COUNT = Number(env.TEST_REQUESTS || 120);
const LONG = { timeout: 3_600_000 };

/** The number of concurrent requests that keeps the runtime busy. */
const AT_ONCE = 50;

async function each(count: number, run: (n: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) => run(from + n)));
  }
}

const NO_CALLS = { objects: 0, directory: 0 };

/** Forgeries of every kind in turn, made from an existing key. */
function forger(genuine: string): (n: number) => Promise<string> {
  const secret = () => crypto.getRandomValues(new Uint8Array(32));
  const kinds: (() => string | Promise<string>)[] = [
    () => `ply_g${randomBase62(53)}`,
    () => genuine.slice(0, -6) + randomBase62(6),
    () => genuine.slice(0, 20) + randomBase62(32) + genuine.slice(52),
    () => `ply_g${randomBase62(15)}${genuine.slice(20)}`,
    () => newKeyText(newId("key", null), secret()),
    () => newKeyText(`key_${genuine.slice(4, 20)}`, secret()),
  ];
  return async (n) => (kinds[n % kinds.length] as (typeof kinds)[0])();
}

test(`${FORGED} forged keys are recognized by their text alone`, async () => {
  const forge = forger((await newKey((await newOrganization()).organizationId)).secret);
  const asked = countAll();
  const known: string[] = [];
  for (let n = 0; n < FORGED; n++) {
    const text = await forge(n);
    if (await wellFormedKey(env, text)) known.push(text);
  }
  expect(known).toEqual([]);
  expect(asked()).toEqual(NO_CALLS);
});

test(`${COUNT} requests with forged keys call no object and don't read the directory`, LONG, async () => {
  const { organizationId } = await newOrganization();
  const forge = forger((await newKey(organizationId)).secret);
  vi.spyOn(console, "log").mockReturnValue();
  const asked = countAll();
  const chat = `/chats/${newId("cht", null)}`;
  const paths = ["/key", "/chats", chat, `${chat}/messages`, "/nowhere"];
  await each(COUNT, async (n) => {
    const path = paths[n % paths.length] ?? "";
    const [method, body] = n % 2 ? ["POST", { content: "Hello" }] : ["GET"];
    expectError(await client(await forge(n))(method as string, path, body), 401, "invalid_api_key");
  });
  expect(asked()).toEqual(NO_CALLS);
});

test(
  `a revoked key that floods ${COUNT} times costs its object one call a second, and no read of the directory`,
  LONG,
  async () => {
    // What follows two seconds later is no part of the flood: the end of the deletion, and the count of the refusals.
    neverRing(2_000);
    const { key, secret } = await newKey((await newOrganization()).organizationId);
    expect((await admin("DELETE", `/keys/${key.id}`)).status).toBe(200);
    expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key");
    vi.spyOn(console, "log").mockReturnValue();
    const steps = watchSteps();
    const asked = countAll();
    for (let second = 0; second < 3; second++) {
      vi.setSystemTime(Date.now() + 1_001);
      expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key");
      await each(COUNT / 3, async () => expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key"));
    }
    expect(steps).toEqual(Array(3).fill("KEYS.admit"));
    expect(asked().directory).toBe(0);
  },
);

test(`${COUNT} guessed chat ids with a valid key change no storage`, LONG, async () => {
  vi.spyOn(console, "log").mockReturnValue();
  const { organizationId } = await newOrganization();
  const rateLimit = { limit: 1_000_000, windowSeconds: 3_600 };
  const api = client((await newKey(organizationId, { rateLimit })).secret);
  const before = await directoryRows();
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  // The entries of its audit log.
  const heldBefore = await heldBy(organization);
  const there = new Set((await listDurableObjectIds(env.CHATS)).map(String));
  await each(COUNT, async (n) => {
    const path = `/chats/${newId("cht", null)}`;
    const message = `${path}/messages/${newId("msg", null)}`;
    const guesses: [string, string, object?][] = [
      ["GET", path],
      ["GET", `${path}/messages`],
      ["GET", `${path}/messages?page=2`],
      ["POST", `${path}/messages`, { content: "Hello" }],
      ["GET", message],
      ["GET", `${message}/media`],
    ];
    const [method, asked, body] = guesses[n % guesses.length] as [string, string, object?];
    expectError(await api(method, asked, body), 404, "chat_not_found");
  });
  expect(await directoryRows()).toEqual(before);
  const made = (await listDurableObjectIds(env.CHATS)).filter((id) => !there.has(String(id)));
  for (const id of made) expect(await heldBy(env.CHATS.get(id))).toEqual(NOTHING);
  expect(await heldBy(organization)).toEqual(heldBefore);
});

test(
  `${COUNT} guessed channel ids open no page, accept no webhook, chat or visitor, and change no storage`,
  LONG,
  async () => {
    vi.spyOn(console, "log").mockReturnValue();
    const { organizationId } = await newOrganization();
    const rateLimit = { limit: 1_000_000, windowSeconds: 3_600 };
    const api = client((await newKey(organizationId, { rateLimit })).secret);
    const before = await directoryRows();
    const objects = [env.CHATS, env.CHANNELS, env.ORGANIZATIONS].map((each: { getByName(name: string): unknown }) =>
      vi.spyOn(each, "getByName"),
    );
    await each(COUNT / 6, async () => {
      const id = newId("chn", null);
      expectError(await call("GET", `/web/${id}`), 404, "channel_not_found");
      expectError(await call("POST", `/hooks/telegram/${id}`, { body: {} }), 401, "webhook_not_genuine");
      expectError(await call("POST", `/hooks/whatsapp/${id}`, { body: {} }), 401, "webhook_not_genuine");
      expectError(await call("GET", `/hooks/whatsapp/${id}`), 403, "handshake_refused");
      expectError(
        await api("POST", "/chats", { channelId: id, contact: { address: "ada" } }),
        404,
        "channel_not_found",
      );
      expect(await (await connect(id)).closed).toBe(4404);
    });
    expect(objects.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
    expect(await directoryRows()).toEqual(before);
  },
);
