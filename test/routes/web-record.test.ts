import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { channelRecord, verifyChannel } from "../../src/channels/record.ts";
import { newId } from "../../src/ids.ts";
import { breakDirectory, countRoundTrips, DIRECTORY_DOWN } from "../faults.ts";
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

test("a fresh record is read now, and held from now on", async () => {
  const { channelId } = await newOrganization();
  await channelRecord(env, channelId);
  await admin("PATCH", `/channels/${channelId}`, { name: "Renamed" });
  expect((await channelRecord(env, channelId))?.name).toBe("The web channel");
  expect((await channelRecord(env, channelId, { fresh: true }))?.name).toBe("Renamed");
  expect((await channelRecord(env, channelId))?.name).toBe("Renamed");
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
  expect((await verify("1:new-secret"))?.verified).toBe("good");
  expect(tried).toHaveLength(3);
  const roundTrips = countRoundTrips();
  expect((await verify("1:new-secret"))?.verified).toBe("good");
  expect([tried.length, roundTrips()]).toEqual([4, 0]);
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
