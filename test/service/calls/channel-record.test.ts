import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { channelRecord } from "../../../src/calls/channel-record.ts";
import { breakDirectory, OUTAGES } from "../../support/faults.ts";
import { admin, newChannel, newChat, newOrganization, send } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";

stopTheClock();

/** An isolate that has read nothing yet: what an isolate remembers belongs to its bindings. */
const newIsolate = (): Env => ({ ...env });

test.each(OUTAGES)("while D1 is down (%s error), an isolate uses a record for an hour", async (outage) => {
  const { channelId } = await newOrganization();
  const isolate = newIsolate();
  const record = await channelRecord(isolate, channelId);
  breakDirectory(outage);
  pass(3_599_000);
  expect(await channelRecord(isolate, channelId)).toBe(record);
  expect(await channelRecord(isolate, channelId, { fresh: true })).toBe(record);
  await expect(channelRecord(isolate, channelId, { fresh: "now" })).rejects.toThrow();
  pass(2_000);
  await expect(channelRecord(isolate, channelId)).rejects.toThrow();
});

test.each(OUTAGES)(
  "while D1 is down (%s error), a new isolate gets the record from the channel's object",
  async (outage) => {
    const { api, organizationId } = await newOrganization();
    const channelId = await newChannel(organizationId, "telegram");
    const chat = await newChat(api, channelId, "4711");
    await send(api, chat.id);
    const before = await channelRecord(newIsolate(), channelId);
    await until("the channel's object keeps its row", () => env.CHANNELS.getByName(channelId).storedRow());
    breakDirectory(outage);
    const record = await channelRecord(newIsolate(), channelId);
    expect(record).toMatchObject({ id: channelId, organizationId, kind: "telegram", credentials: before?.credentials });
    expect(record?.verifyToken).toBe(before?.verifyToken);
  },
);

test("what the channel's object keeps for an outage is sealed, and follows a change", async () => {
  const { api, organizationId } = await newOrganization();
  const channelId = await newChannel(organizationId, "telegram");
  await send(api, (await newChat(api, channelId, "4711")).id);
  const object = env.CHANNELS.getByName(channelId);
  await until("the channel's object keeps its row", () => object.storedRow());
  const botToken = "654321:a-new-telegram-token";
  await admin("PATCH", `/channels/${channelId}`, { credentials: { botToken } });
  expect(JSON.stringify(await object.storedRow())).not.toContain(botToken);
  breakDirectory("bare");
  expect((await channelRecord(newIsolate(), channelId))?.credentials).toEqual({ botToken });
});

test("a channel that its object never read is unknown while D1 is down", async () => {
  const { channelId } = await newOrganization();
  breakDirectory("bare");
  await expect(channelRecord(newIsolate(), channelId)).rejects.toThrow();
});

test("once D1 answers, all records that are too old are read again", async () => {
  const { channelId, organizationId } = await newOrganization();
  const otherId = await newChannel(organizationId, "telegram");
  const isolate = newIsolate();
  await channelRecord(isolate, otherId);
  await channelRecord(isolate, channelId);
  pass(10_000);
  breakDirectory("bare");
  await channelRecord(isolate, otherId);
  vi.restoreAllMocks();
  await admin("PATCH", `/channels/${channelId}`, { name: "Renamed" });
  expect((await channelRecord(isolate, channelId))?.name).not.toBe("Renamed");
  await channelRecord(isolate, otherId, { fresh: "now" });
  expect((await channelRecord(isolate, channelId))?.name).toBe("Renamed");
});
