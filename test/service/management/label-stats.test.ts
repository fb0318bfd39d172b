import { expect, test } from "vitest";
import { admin, client, newChannel, newChat, newKey, send } from "../../support/harness.ts";
import { team } from "../chats/assignment-fixtures.ts";
import { report } from "../chats/inbound.ts";
import { labelsOf } from "../chats/label-fixtures.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";

const MINUTE = 60_000;
const NONE = { within1m: 0, within5m: 0, within15m: 0, within1h: 0, within4h: 0, within24h: 0, later: 0 };

stopTheClock();

/** An organization whose chats are labeled, answered and closed. */
async function desk() {
  const place = await team();
  const { api, organizationId, channelId, write } = place;
  const labels = labelsOf(organizationId);
  const label = await labels.make("Refund");
  const { secret } = await newKey(organizationId, { permissions: ["stats:read"] });
  const readStats = (query: string) => client(secret)("GET", `/stats${query}`);
  return {
    ...place,
    ...labels,
    label,
    readStats,
    /** A chat whose contact asks and is answered after these times, and then asks again if it waits. */
    chat: async (answeredAfter: number[], isWaiting: boolean, channel = channelId): Promise<string> => {
      const { id } = await newChat(api, channel);
      for (const ms of answeredAfter) {
        await write(id);
        pass(ms);
        await send(api, id);
      }
      if (isWaiting) await write(id);
      await report(id);
      return id;
    },
    put: async (id: string) => expect((await api("PUT", `/chats/${id}/labels/${label}`)).status).toBe(200),
    take: async (id: string) => expect((await api("DELETE", `/chats/${id}/labels/${label}`)).status).toBe(200),
    change: async (id: string, body: object) => {
      expect((await api("PATCH", `/chats/${id}`, body)).status).toBe(200);
      await report(id);
    },
    labelStats: async (id = label) => {
      const { status, body, text } = await readStats(`?label=${id}`);
      expect(status, text).toBe(200);
      return body.label;
    },
  };
}

test("GET /stats?label= counts the chats that have the label now, by state, and the answers in them", async () => {
  const { chat, put, take, change, label, labelStats, organizationId } = await desk();
  const [asked, quick, slow, later, lost] = [
    await chat([], true),
    await chat([MINUTE / 2, 2 * MINUTE], false),
    await chat([20 * MINUTE], true),
    await chat([2 * MINUTE], false),
    await chat([MINUTE / 2], true),
  ];
  await chat([MINUTE / 2], true);
  for (const id of [asked, quick, slow, later, lost]) await put(id);
  await take(lost);
  await change(quick, { state: "closed" });
  await change(later, { state: "closed" });
  await change(slow, { state: "snoozed", snoozedUntil: new Date(Date.now() + 60 * MINUTE).toISOString() });
  const expected = {
    id: label,
    name: "Refund",
    chats: 4,
    counted: {
      ...{ open: 1, snoozed: 1, closed: 2, unanswered: 2, received: 6, sent: 4, answers: 4 },
      classes: { ...NONE, within1m: 1, within5m: 2, within1h: 1 },
      responseTimes: { medianSeconds: 108, p90Seconds: 1_055 },
    },
  };
  expect(await labelStats()).toEqual(expected);
  expect((await admin("GET", `/stats?organization=${organizationId}&label=${label}`)).body.label).toEqual(expected);
  await change(quick, { state: "open" });
  expect(await labelStats()).toMatchObject({ chats: 4, counted: { open: 2, closed: 1, unanswered: 2 } });
});

test("a label counts neither deleted chats nor those of a channel that is being deleted", async () => {
  const { chat, put, labelStats, organizationId, rows } = await desk();
  const other = await newChannel(organizationId, "web");
  const [stays, deleted, closed] = [
    await chat([], true),
    await chat([MINUTE], true),
    await chat([MINUTE], true, other),
  ];
  for (const id of [stays, deleted, closed]) await put(id);
  expect(await labelStats()).toMatchObject({ chats: 3, counted: { unanswered: 3, answers: 2 } });
  expect((await admin("DELETE", `/chats/${deleted}`)).status).toBe(200);
  await rows(`update channels set closed = 1 where id = '${other}'`);
  expect(await labelStats()).toMatchObject({ chats: 1, counted: { open: 1, unanswered: 1, received: 1, answers: 0 } });
});

test("a label of more than 10,000 chats says only how many", async () => {
  const { labelStats, rows, label } = await desk();
  await rows("update labels set chats = 10000");
  expect((await labelStats()).counted).not.toBeNull();
  await rows("update labels set chats = 10001");
  expect(await labelStats()).toEqual({ id: label, name: "Refund", chats: 10_001, counted: null });
});

test("a label that is not there is a 404, and without one there is none in the answer", async () => {
  const { readStats, label, remove } = await desk();
  const other = await desk();
  expect((await readStats("")).body).not.toHaveProperty("label");
  expect((await readStats("?label=")).status).toBe(400);
  expect((await readStats(`?label=${label}`)).body.label).toMatchObject({ name: "Refund", chats: 0 });
  await remove(label);
  for (const id of [label, other.label]) {
    const { status, body } = await readStats(`?label=${id}`);
    expect([status, body.code]).toEqual([404, "label_not_found"]);
  }
});
