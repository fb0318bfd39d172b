import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { channelRecord, verifyChannel } from "../../src/channels/record.ts";
import { newId } from "../../src/ids.ts";
import { aroundQueries, breakDirectory, countRoundTrips, DIRECTORY_DOWN } from "../faults.ts";
import { admin, created, newChannel, newOrganization } from "../harness.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("a channel's record holds its opened credentials and its organization's region", async () => {
  const { organizationId } = await newOrganization({ region: "weur" });
  const body = { kind: "telegram", name: "Bot", credentials: { botToken: "1:abcdefgh" }, settings: { perSecond: 3 } };
  const { channel } = created(await admin("POST", `/organizations/${organizationId}/channels`, body));
  const record = await channelRecord(env, channel.id);
  expect(record).toMatchObject({
    id: channel.id,
    organizationId,
    kind: "telegram",
    name: "Bot",
    region: "weur",
    settings: { perSecond: 3 },
    credentials: { botToken: "1:abcdefgh" },
    verifyToken: channel.webhook.verifyToken,
    readAt: Date.now(),
  });
  expect(await record?.identitySecrets(Date.now())).toEqual([]);
});

test("a record is held for 10 seconds, and no longer", async () => {
  const { channelId } = await newOrganization();
  const first = await channelRecord(env, channelId);
  const roundTrips = countRoundTrips();
  vi.setSystemTime(Date.now() + 9_999);
  expect(await channelRecord(env, channelId)).toBe(first);
  expect(roundTrips()).toBe(0);
  vi.setSystemTime(Date.now() + 1);
  expect(await channelRecord(env, channelId)).not.toBe(first);
  expect(roundTrips()).toBe(1);
});

test("a clock that was set back makes no record last", async () => {
  const { channelId } = await newOrganization();
  const first = await channelRecord(env, channelId);
  vi.setSystemTime(Date.now() - 1);
  expect(await channelRecord(env, channelId)).not.toBe(first);
});

test("a fresh record is read where the held one is a second old, and held from then on", async () => {
  const { channelId } = await newOrganization();
  await channelRecord(env, channelId);
  await admin("PATCH", `/channels/${channelId}`, { name: "Renamed" });
  vi.setSystemTime(Date.now() + 999);
  expect((await channelRecord(env, channelId, { fresh: true }))?.name).toBe("The web channel");
  vi.setSystemTime(Date.now() + 1);
  expect((await channelRecord(env, channelId))?.name).toBe("The web channel");
  expect((await channelRecord(env, channelId, { fresh: true }))?.name).toBe("Renamed");
  expect((await channelRecord(env, channelId))?.name).toBe("Renamed");
});

test("a record of now is read at once, and held from now on", async () => {
  const { channelId } = await newOrganization();
  await channelRecord(env, channelId);
  await admin("PATCH", `/channels/${channelId}`, { name: "Renamed" });
  expect((await channelRecord(env, channelId, { fresh: "now" }))?.name).toBe("Renamed");
  expect((await channelRecord(env, channelId))?.name).toBe("Renamed");
});

test("those who ask at once share one read, and a failure of it fails none after them", async () => {
  const { channelId } = await newOrganization();
  const roundTrips = countRoundTrips();
  const ask = () => Promise.all([1, 2, 3].map(() => channelRecord(env, channelId, { fresh: true })));
  const [one, ...others] = await ask();
  expect(others).toEqual([one, one]);
  expect(roundTrips()).toBe(1);
  vi.restoreAllMocks();
  vi.setSystemTime(Date.now() + 1_000);
  breakDirectory();
  await expect(ask()).rejects.toThrow();
  vi.restoreAllMocks();
  expect((await ask())[0]?.id).toBe(channelId);
});

test("a read that never ends, as of a request that was cancelled, holds nobody up for long", async () => {
  const { channelId } = await newOrganization();
  aroundQueries((query, run) => (query === 1 ? new Promise(() => undefined) : run()));
  void channelRecord(env, channelId);
  expect((await channelRecord(env, channelId))?.id).toBe(channelId);
});

test("a read that began before a change is not held in place of one that began after it", async () => {
  const { channelId } = await newOrganization();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: read, resolve: hasRead } = Promise.withResolvers<void>();
  aroundQueries(async (query, run) => {
    const row = await run();
    if (query === 1) {
      hasRead();
      await released;
    }
    return row;
  });
  const slow = channelRecord(env, channelId);
  await read;
  await env.DB.prepare("update channels set name = 'Renamed' where id = ?").bind(channelId).run();
  expect((await channelRecord(env, channelId, { fresh: "now" }))?.name).toBe("Renamed");
  release();
  expect((await slow)?.name).toBe("The web channel");
  expect((await channelRecord(env, channelId))?.name).toBe("Renamed");
});

test("forged calls read the directory once a second", async () => {
  const { channelId } = await newOrganization();
  await channelRecord(env, channelId);
  vi.setSystemTime(Date.now() + 1_000);
  const roundTrips = countRoundTrips();
  for (let n = 0; n < 50; n++) await verifyChannel(env, channelId, async () => null);
  expect(roundTrips()).toBe(1);
  vi.setSystemTime(Date.now() + 1_000);
  await verifyChannel(env, channelId, async () => null);
  expect(roundTrips()).toBe(2);
});

test("a channel that is being erased is absent, as one that never was", async () => {
  const { channelId } = await newOrganization();
  await env.DB.prepare("update channels set erasing_at = 1 where id = ?").bind(channelId).run();
  expect(await channelRecord(env, channelId)).toBeNull();
  expect(await channelRecord(env, newId("chn", null))).toBeNull();
});

test("what is absent is asked once in 10 seconds, and what has not an id's form never", async () => {
  const roundTrips = countRoundTrips();
  const id = newId("chn", null);
  for (const asked of [id, id, "chn_", newId("cht", null)]) expect(await channelRecord(env, asked)).toBeNull();
  expect(roundTrips()).toBe(1);
});

test("an isolate holds a thousand records, and drops the oldest", async () => {
  const { channelId } = await newOrganization();
  const first = await channelRecord(env, channelId);
  for (let n = 0; n < 999; n++) await channelRecord(env, newId("chn", null));
  expect(await channelRecord(env, channelId)).toBe(first);
  await channelRecord(env, newId("chn", null));
  expect(await channelRecord(env, channelId)).not.toBe(first);
}, 20_000);

test("a verification that fails with a held record is made once more with a fresh one", async () => {
  const { organizationId } = await newOrganization();
  const channelId = await newChannel(organizationId, "telegram");
  const tried: string[] = [];
  const verify = (token: string) =>
    verifyChannel(env, channelId, async ({ credentials }) => {
      tried.push(credentials.botToken ?? "");
      return credentials.botToken === token ? "good" : null;
    });
  expect((await verify("1:new-secret"))?.verified).toBeNull();
  expect(tried).toHaveLength(1);
  await admin("PATCH", `/channels/${channelId}`, { credentials: { botToken: "1:new-secret" } });
  expect((await verify("1:new-secret"))?.verified).toBeNull();
  expect(tried).toHaveLength(2);
  vi.setSystemTime(Date.now() + 1_000);
  expect((await verify("1:new-secret"))?.verified).toBe("good");
  expect(tried).toHaveLength(4);
  const roundTrips = countRoundTrips();
  expect((await verify("1:new-secret"))?.verified).toBe("good");
  expect([tried.length, roundTrips()]).toEqual([5, 0]);
});

test("a verification for no channel is null", async () => {
  expect(await verifyChannel(env, newId("chn", null), async () => true)).toBeNull();
});

test("credentials that open under no key are an outage, and a directory that is down is one", async () => {
  const { organizationId } = await newOrganization();
  const channelId = await newChannel(organizationId, "telegram");
  await env.DB.prepare("update channels set credentials = verify_token where id = ?").bind(channelId).run();
  await expect(channelRecord(env, channelId)).rejects.toMatchObject({ code: "unavailable" });
  breakDirectory();
  await expect(channelRecord(env, channelId)).rejects.toMatchObject({ cause: { message: DIRECTORY_DOWN } });
});

test("a web channel needs no key to be read, for a page shows none of its secrets", async () => {
  const { channelId } = await newOrganization();
  const record = await channelRecord({ ...env, CREDENTIALS_KEY: "" }, channelId);
  expect(record).toMatchObject({ kind: "web", credentials: {}, verifyToken: null });
  await expect(record?.identitySecrets(Date.now())).rejects.toMatchObject({ code: "unavailable" });
});
