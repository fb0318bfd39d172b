import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { call, expectError, newKey } from "../../support/harness.ts";
import { newToken } from "../../support/sockets.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { HOUR, MIB, newPlace, PNG } from "./uploading.ts";

stopTheClock();

test("a visitor uploads 25 MiB an hour, and a repeated upload counts once", async () => {
  const { upload } = await newPlace();
  const key = { "Idempotency-Key": "photo" };
  const first = await upload({ size: 10 * MIB, headers: key });
  const again = await upload({ size: 10 * MIB, headers: key });
  expect(again.body).toEqual(first.body);
  expect(again.headers.get("Idempotent-Replayed")).toBe("true");
  pass(600_000);
  expect((await upload({ size: 10 * MIB })).status).toBe(201);
  expect((await upload({ size: 5 * MIB })).status).toBe(201);
  const refused = await upload();
  expectError(refused, 429, "rate_limited");
  expect(refused.headers.get("Retry-After")).toBe("3000");
  expect(refused.headers.get("X-RateLimit-Limit")).toBe(String(25 * MIB));
  expect(refused.headers.get("X-RateLimit-Remaining")).toBe("0");
  pass(HOUR - 600_000);
  expect((await upload({ size: 10 * MIB })).status).toBe(201);
  expectError(await upload(), 429, "rate_limited");
});

test("an address uploads 100 MiB an hour for all its visitors, and small files count as 64 KiB", async () => {
  const { upload, channelId } = await newPlace();
  const channel = env.CHANNELS.getByName(channelId);
  const count = async (chatId: string, id: string, bytes: number, network = "192.0.2.9") => {
    const upload = { id, chatId, network, bytes };
    const decision = await channel.admitUpload(upload);
    if (decision.ok) await channel.endUpload(upload, true);
    return decision;
  };
  for (let index = 0; index < 4; index++) expect(await count(`cht_${index}`, "a", 25 * MIB)).toEqual({ ok: true });
  expect(await count("cht_4", "a", 1)).toEqual({ ok: false, retryAfter: 3_600, limit: 100 * MIB, left: 0 });
  expect(await count("cht_4", "a", 1, "192.0.2.10")).toEqual({ ok: true });
  expect(await count("cht_4", "b", 25 * MIB, "192.0.2.10")).toEqual({
    ok: false,
    retryAfter: 3_600,
    limit: 25 * MIB,
    left: 25 * MIB - 65_536,
  });
  expectError(await upload({ from: "192.0.2.9" }), 429, "rate_limited");
  // What no longer counts is deleted, as it has an address.
  pass(HOUR + 600_000);
  await runAlarm(channel);
  expect((await upload({ from: "192.0.2.9" })).status).toBe(201);
});

test("a repeated upload counts what it has more than the first", async () => {
  const { upload } = await newPlace();
  for (const name of ["one", "two"]) {
    const headers = { "Idempotency-Key": name };
    expectError(await upload({ size: 1, headers }), 415, "media_type");
    expect((await upload({ size: 10 * MIB, headers })).status).toBe(201);
  }
  const headers = { "Idempotency-Key": "three" };
  expectError(await upload({ size: 1, headers }), 415, "media_type");
  expectError(await upload({ size: 10 * MIB, headers }), 429, "rate_limited");
  expect((await upload({ size: 5 * MIB, headers })).status).toBe(201);
});

test("tries of one upload at the same time count the longest of them", async () => {
  const { channelId } = await newPlace();
  await runInDurableObject(env.CHANNELS.getByName(channelId), async (channel) => {
    const upload = (id: string, bytes: number) => ({ id, chatId: "cht_1", network: "192.0.2.9", bytes });
    for (const id of ["one", "two"]) {
      expect(await channel.admitUpload(upload(id, 10 * MIB))).toEqual({ ok: true });
      expect(await channel.admitUpload(upload(id, 1))).toEqual({ ok: true });
      channel.endUpload(upload(id, 1), false);
      channel.endUpload(upload(id, 10 * MIB), true);
    }
    expect(await channel.admitUpload(upload("three", 10 * MIB))).toMatchObject({ ok: false, left: 5 * MIB });
  });
});

test("an upload that is repeated while its first try has not ended counts once", async () => {
  const { channelId } = await newPlace();
  await runInDurableObject(env.CHANNELS.getByName(channelId), async (channel) => {
    const upload = (id: string) => ({ id, chatId: "cht_1", network: "192.0.2.9", bytes: 10 * MIB });
    for (const id of ["one", "cut", "cut"]) expect(await channel.admitUpload(upload(id))).toEqual({ ok: true });
    channel.endUpload(upload("one"), true);
    // The one that was cut off will be given back by then.
    expect(await channel.admitUpload(upload("three"))).toMatchObject({ ok: false, retryAfter: 360 });
  });
});

test("an upload that ends after its channel was deleted leaves nothing behind", async () => {
  const { channelId } = await newPlace();
  await runInDurableObject(env.CHANNELS.getByName(channelId), (channel, { storage }) => {
    channel.endUpload({ id: "a", chatId: "cht_1", network: "192.0.2.9", bytes: 1 }, true);
    expect(storage.sql.exec("select name from sqlite_master where name like '%uploads%'").toArray()).toEqual([]);
  });
});

test("bytes that are not stored are given back", async () => {
  const { upload } = await newPlace();
  const wrong = { "Content-Type": "image/gif" };
  for (let times = 0; times < 4; times++)
    expectError(await upload({ size: 10 * MIB, headers: wrong }), 415, "media_type");
  expect((await upload({ size: 10 * MIB })).status).toBe(201);
});

test("an upload that is cut off counts until it should have ended", async () => {
  const { channelId } = await newPlace();
  const channel = env.CHANNELS.getByName(channelId);
  const begin = (id: string) => channel.admitUpload({ id, chatId: "cht_1", network: "192.0.2.9", bytes: 20 * MIB });
  expect(await begin("cut")).toEqual({ ok: true });
  expect(await begin("next")).toMatchObject({ ok: false });
  pass(360_000);
  expect(await begin("next")).toEqual({ ok: true });
});

test("a try counts as 64 KiB, whatever comes of it", async () => {
  const { channelId } = await newPlace();
  await runInDurableObject(env.CHANNELS.getByName(channelId), async (channel) => {
    const upload = { id: "same", chatId: "cht_1", network: "192.0.2.9", bytes: 1 };
    for (let tries = 0; tries < 400; tries++) {
      expect(await channel.admitUpload(upload)).toEqual({ ok: true });
      channel.endUpload(upload, false);
    }
    expect(await channel.admitUpload(upload)).toEqual({ ok: false, retryAfter: 3_600, limit: 25 * MIB, left: 0 });
  });
});

test.for<[of: string, limit: number, network: (n: number) => string]>([
  ["a /48", 400 * MIB, (n) => `20010db80001${(n + 4_096).toString(16)}::/64`],
  ["a channel", 4_096 * MIB, (n) => `192.0.2.${n}`],
])("the visitors of %s share a limit", async ([, limit, network]) => {
  const { channelId } = await newPlace();
  await runInDurableObject(env.CHANNELS.getByName(channelId), async (channel) => {
    const upload = (n: number) => ({ id: "a", chatId: `cht_${n}`, network: network(n), bytes: 16 * MIB });
    const begin = (n: number) => channel.admitUpload(upload(n));
    for (let n = 0; n < limit / (16 * MIB); n++) {
      expect(await begin(n)).toEqual({ ok: true });
      channel.endUpload(upload(n), true);
    }
    expect(await begin(limit / (16 * MIB))).toEqual({ ok: false, retryAfter: 3_600, limit, left: 0 });
    const elsewhere = { id: "a", chatId: "cht_x", network: "20010db800020000::/64", bytes: 1 };
    const shorter = { ...elsewhere, chatId: "cht_y", network: "20010db80001::/64" };
    for (const other of [elsewhere, shorter]) {
      expect((await channel.admitUpload(other)).ok).toBe(network(0).includes(":"));
    }
  });
});

test("uploads that an earlier version counted still count", async () => {
  const { channelId } = await newPlace();
  await runInDurableObject(env.CHANNELS.getByName(channelId), async (channel, { storage }) => {
    storage.sql.exec(
      `create table uploads (chat_id text not null, id text not null, network text not null, bytes integer not null, at integer not null, primary key (chat_id, id)) without rowid;
       create index uploads_by_network on uploads (network, at)`,
    );
    storage.sql.exec("insert into uploads values ('cht_1', 'a', '192.0.2.9', ?, ?)", 20 * MIB, Date.now());
    const upload = { id: "b", chatId: "cht_1", network: "192.0.2.9", bytes: 10 * MIB };
    expect(await channel.admitUpload(upload)).toMatchObject({ ok: false, left: 5 * MIB });
    expect(await channel.admitUpload({ ...upload, bytes: 5 * MIB })).toEqual({ ok: true });
    // The earlier version would make its own table again.
    expect(storage.sql.exec("select 1 from sqlite_master where name = 'uploads'").toArray()).toEqual([]);
  });
});

test("a visitor's idempotency key is not the company's", async () => {
  const { upload, organizationId, chats } = await newPlace();
  const headers = { "Idempotency-Key": "invoice-4711" };
  const visitors = await upload({ headers });
  const { secret } = await newKey(organizationId);
  const [chat] = await chats();
  const ours = await call("POST", `/api/v1/chats/${chat.id}/media`, {
    headers: { ...headers, Authorization: `Bearer ${secret}`, "Content-Type": "image/png", "Content-Length": "78" },
    body: PNG.slice(0, 78) as never,
  });
  expect(ours.headers.get("Idempotent-Replayed")).toBeNull();
  expect(ours.body.media.id).not.toBe(visitors.body.media.id);
});

test("new chats by files are limited as others are", async () => {
  const { upload } = await newPlace();
  const from = "192.0.2.77";
  for (let index = 0; index < 5; index++) {
    expect((await upload({ claim: `token.${newToken()}`, from })).status).toBe(201);
  }
  expectError(await upload({ claim: `token.${newToken()}`, from }), 429, "rate_limited", "Too many new chats");
});
