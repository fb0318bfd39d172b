import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { channelRecord, verifyChannel } from "../../../../../src/calls/channel-record.ts";
import { newId } from "../../../../../src/model/id.ts";
import { aroundQueries, breakDirectory, countRoundTrips, OUTAGES, outageError } from "../../../../support/faults.ts";
import { admin, created, newChannel, newOrganization } from "../../../../support/harness.ts";
import { stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

test("a channel's record has its decrypted credentials and its organization's region", async () => {
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

test("a record is cached for 10 seconds", async () => {
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

test("a record does not stay cached longer if the clock is set back", async () => {
  const { channelId } = await newOrganization();
  const first = await channelRecord(env, channelId);
  vi.setSystemTime(Date.now() - 1);
  expect(await channelRecord(env, channelId)).not.toBe(first);
});

test("a fresh record is read if the cached one is a second old, and then cached", async () => {
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

test("a current record is read at once, and then cached", async () => {
  const { channelId } = await newOrganization();
  await channelRecord(env, channelId);
  await admin("PATCH", `/channels/${channelId}`, { name: "Renamed" });
  expect((await channelRecord(env, channelId, { fresh: "now" }))?.name).toBe("Renamed");
  expect((await channelRecord(env, channelId))?.name).toBe("Renamed");
});

test.each(OUTAGES)(
  "concurrent callers share one read, and its failure does not affect later callers (%s error)",
  async (outage) => {
    const { channelId } = await newOrganization();
    const roundTrips = countRoundTrips();
    const ask = () => Promise.all([1, 2, 3].map(() => channelRecord(env, channelId, { fresh: true })));
    const [one, ...others] = await ask();
    expect(others).toEqual([one, one]);
    expect(roundTrips()).toBe(1);
    vi.restoreAllMocks();
    // So old a record is not used, even while the directory is down.
    vi.setSystemTime(Date.now() + 3_600_000);
    breakDirectory(outage);
    await expect(ask()).rejects.toThrow();
    vi.restoreAllMocks();
    expect((await ask())[0]?.id).toBe(channelId);
  },
);

test("a read that never ends, for example of a canceled request, delays other callers only briefly", async () => {
  const { channelId } = await newOrganization();
  aroundQueries((query, run) => (query === 1 ? new Promise(() => undefined) : run()));
  void channelRecord(env, channelId);
  expect((await channelRecord(env, channelId))?.id).toBe(channelId);
});

/** A read whose result is from before the channel was renamed, and which ends when it is released. */
async function renamedAmidRead(channelId: string) {
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
  return { slow, release };
}

test("a read that started before a change does not replace a later one in the cache", async () => {
  const { channelId } = await newOrganization();
  const { slow, release } = await renamedAmidRead(channelId);
  expect((await channelRecord(env, channelId, { fresh: "now" }))?.name).toBe("Renamed");
  release();
  expect((await slow)?.name).toBe("The web channel");
  expect((await channelRecord(env, channelId))?.name).toBe("Renamed");
});

test("forged calls read the directory at most once a second, however old the record is", async () => {
  const { channelId } = await newOrganization();
  await channelRecord(env, channelId);
  const roundTrips = countRoundTrips();
  const forge = (fresh: boolean) => verifyChannel(env, channelId, async () => null, { fresh });
  for (let n = 0; n < 50; n++) await forge(n % 2 === 0);
  expect(roundTrips()).toBe(1);
  for (let tenths = 1; tenths <= 120; tenths++) {
    vi.setSystemTime(Date.now() + 100);
    for (let n = 0; n < 4; n++) await forge(n % 2 === 0);
  }
  expect(roundTrips()).toBe(13);
});

test("concurrent forged calls read the directory once, and a genuine call among them uses the same read", async () => {
  const { channelId } = await newOrganization();
  await channelRecord(env, channelId);
  await admin("PATCH", `/channels/${channelId}`, { name: "Renamed" });
  const roundTrips = countRoundTrips();
  const verify = (name: string) =>
    verifyChannel(env, channelId, async (record) => (record.name === name ? "good" : null));
  const found = await Promise.all([verify("Forged"), verify("Renamed"), verify("Forged")]);
  expect(found.map((one) => one?.verified)).toEqual([null, "good", null]);
  expect(roundTrips()).toBe(1);
});

test.each(OUTAGES)("forged calls read a failing directory at most once a second (%s error)", async (outage) => {
  const { channelId } = await newOrganization();
  await channelRecord(env, channelId);
  breakDirectory(outage);
  const roundTrips = countRoundTrips();
  const forge = () => verifyChannel(env, channelId, async () => null);
  for (let n = 0; n < 6; n++) expect((await forge())?.verified).toBeNull();
  expect(roundTrips()).toBe(1);
});

test("a channel that is being deleted is treated as unknown", async () => {
  const { channelId } = await newOrganization();
  await env.DB.prepare("update channels set erasing_at = 1 where id = ?").bind(channelId).run();
  expect(await channelRecord(env, channelId)).toBeNull();
  expect(await channelRecord(env, newId("chn", null))).toBeNull();
});

test("an unknown channel is looked up once in 10 seconds, and a malformed id never", async () => {
  const roundTrips = countRoundTrips();
  const id = newId("chn", null);
  for (const asked of [id, id, "chn_", newId("cht", null)]) expect(await channelRecord(env, asked)).toBeNull();
  expect(roundTrips()).toBe(1);
});

test("an isolate caches a thousand records, and drops the oldest", async () => {
  const { channelId } = await newOrganization();
  const first = await channelRecord(env, channelId);
  for (let n = 0; n < 999; n++) await channelRecord(env, newId("chn", null));
  expect(await channelRecord(env, channelId)).toBe(first);
  await channelRecord(env, newId("chn", null));
  expect(await channelRecord(env, channelId)).not.toBe(first);
});

/** Verifies a bot's token, and records the tokens that it was compared with. */
function tokenVerifier(channelId: string) {
  const tried: string[] = [];
  const verify = async (token: string) => {
    const found = await verifyChannel(env, channelId, async ({ credentials }) => {
      tried.push(credentials.botToken ?? "");
      return credentials.botToken === token ? "good" : null;
    });
    return found?.verified;
  };
  return { tried, verify };
}

const OLD = "123456:telegram-bot-token";

test("a rotated secret works in its first call, and is then cached", async () => {
  const { organizationId } = await newOrganization();
  const channelId = await newChannel(organizationId, "telegram");
  const { tried, verify } = tokenVerifier(channelId);
  expect(await verify(OLD)).toBe("good");
  await admin("PATCH", `/channels/${channelId}`, { credentials: { botToken: "1:new-secret" } });
  expect(await verify("1:new-secret")).toBe("good");
  expect(tried).toEqual([OLD, OLD, "1:new-secret"]);
  const roundTrips = countRoundTrips();
  expect(await verify("1:new-secret")).toBe("good");
  expect([tried.length, roundTrips()]).toEqual([4, 0]);
});

test("a secret that is rotated within a second after a forged call works when the second is over", async () => {
  const { organizationId } = await newOrganization();
  const channelId = await newChannel(organizationId, "telegram");
  const { verify } = tokenVerifier(channelId);
  expect(await verify("forged")).toBeNull();
  await admin("PATCH", `/channels/${channelId}`, { credentials: { botToken: "1:new-secret" } });
  expect(await verify("1:new-secret")).toBeNull();
  vi.setSystemTime(Date.now() + 1_000);
  expect(await verify("1:new-secret")).toBe("good");
});

test("a call that fails with an outdated record is verified again", async () => {
  const { channelId } = await newOrganization();
  const { slow, release } = await renamedAmidRead(channelId);
  const found = verifyChannel(env, channelId, async ({ name }) => (name === "Renamed" ? "good" : null));
  release();
  await slow;
  expect((await found)?.verified).toBe("good");
});

test("the verification for an unknown channel is null", async () => {
  expect(await verifyChannel(env, newId("chn", null), async () => true)).toBeNull();
});

test.each(OUTAGES)(
  "credentials that can't be decrypted are an outage, and so is a failing directory (%s error)",
  async (outage) => {
    const { organizationId } = await newOrganization();
    const channelId = await newChannel(organizationId, "telegram");
    await env.DB.prepare("update channels set credentials = verify_token where id = ?").bind(channelId).run();
    await expect(channelRecord(env, channelId)).rejects.toMatchObject({ code: "unavailable" });
    breakDirectory(outage);
    await expect(channelRecord(env, channelId)).rejects.toMatchObject({
      cause: { message: outageError(outage).message },
    });
  },
);

test("a web channel can be read without the key, because a page needs none of its secrets", async () => {
  const { channelId } = await newOrganization();
  const record = await channelRecord({ ...env, CREDENTIALS_KEY: "" }, channelId);
  expect(record).toMatchObject({ kind: "web", credentials: {}, verifyToken: null });
  await expect(record?.identitySecrets(Date.now())).rejects.toMatchObject({ code: "unavailable" });
});
