import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { newId, randomBase62 } from "../../src/ids.ts";
import { newKeyText } from "../../src/keys/key-text.ts";
import { knownKey } from "../../src/keys/known-key.ts";
import { countRoundTrips } from "../faults.ts";
import { admin, call, client, expectError, newKey, newOrganization } from "../harness.ts";

afterEach(() => vi.restoreAllMocks());

/** How often an object is called, and the directory asked, from here on. */
function countAll(): () => { objects: number; directory: number } {
  const objects = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  const directory = countRoundTrips();
  return () => ({ objects: objects.reduce((sum, spy) => sum + spy.mock.calls.length, 0), directory: directory() });
}

const FORGED = 10_000;

/** As many requests at once as keep the runtime busy. */
const AT_ONCE = 50;

async function each(count: number, run: (n: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) => run(from + n)));
  }
}

const NOTHING = { objects: 0, directory: 0 };

/** Forgeries of every kind in turn, from a key that there is. */
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

test(`${FORGED} forged keys are known for what they are by their letters alone`, async () => {
  const forge = forger((await newKey((await newOrganization()).organizationId)).secret);
  const asked = countAll();
  const known: string[] = [];
  for (let n = 0; n < FORGED; n++) {
    const text = await forge(n);
    if (await knownKey(env, text)) known.push(text);
  }
  expect(known).toEqual([]);
  expect(asked()).toEqual(NOTHING);
});

test("requests with forged keys call no object and ask the directory nothing, whatever they ask for", async () => {
  const { organizationId } = await newOrganization();
  const forge = forger((await newKey(organizationId)).secret);
  vi.spyOn(console, "log").mockReturnValue();
  const asked = countAll();
  const chat = `/chats/${newId("cht", null)}`;
  const paths = ["/key", "/chats", chat, `${chat}/messages`, "/nowhere"];
  await each(120, async (n) => {
    const path = paths[n % paths.length] ?? "";
    const [method, body] = n % 2 ? ["POST", { content: "Hello" }] : ["GET"];
    expectError(await client(await forge(n))(method as string, path, body), 401, "invalid_api_key");
  });
  expect(asked()).toEqual(NOTHING);
});

test("a revoked key that floods costs its object one call a second, and the directory nothing", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
  const { key, secret } = await newKey((await newOrganization()).organizationId);
  expect((await admin("DELETE", `/keys/${key.id}`)).status).toBe(200);
  expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key");
  vi.spyOn(console, "log").mockReturnValue();
  const asked = countAll();
  for (let second = 0; second < 3; second++) {
    vi.setSystemTime(Date.now() + 1_001);
    expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key");
    await each(50, async () => expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key"));
  }
  expect(asked()).toEqual({ objects: 3, directory: 0 });
  vi.useRealTimers();
});

test("guessed channel ids open no page, take no webhook and leave every storage as it was", async () => {
  vi.spyOn(console, "log").mockReturnValue();
  const before = await directoryRows();
  const objects = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  await each(50, async () => {
    const id = newId("chn", null);
    expectError(await call("GET", `/web/${id}`), 404, "channel_not_found");
    expectError(await call("POST", `/hooks/telegram/${id}`, { body: {} }), 401, "webhook_not_genuine");
    expectError(await call("POST", `/hooks/whatsapp/${id}`, { body: {} }), 401, "webhook_not_genuine");
  });
  expect(objects.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
  expect(await directoryRows()).toEqual(before);
});

/** How many rows each of the directory's tables has. */
async function directoryRows(): Promise<Record<string, number>> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\' and name not like 'sqlite%'",
  ).all<{ name: string }>();
  const counts: Record<string, number> = {};
  for (const { name } of results) {
    counts[name] = (await env.DB.prepare(`select count(*) as rows from "${name}"`).first<number>("rows")) ?? 0;
  }
  expect(Object.keys(counts)).toContain("chats");
  return counts;
}
