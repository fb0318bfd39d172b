import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { admin, newOrganization, send, sendMany } from "../../../../support/harness.ts";
import { rowsRead } from "../../../../support/rows-read.ts";
import { type Frame, newToken, objectOf, type Page, visit } from "../../../../support/sockets.ts";
import { until } from "../../../../support/until.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { later, newVisitor } from "./new-visitor.ts";

stopTheClock();

/** A web chat with one message from the visitor and `count` further messages with a status. */
async function longChat(count: number, status: string) {
  const { channelId } = await newOrganization();
  const token = newToken();
  const object = await objectOf(channelId, token);
  const { page } = await visit(channelId, { token });
  await page.write("a");
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec(
      `with recursive n (seq) as (select 2 union all select seq + 1 from n where seq <= ?)
       insert into messages (seq, doc)
       select n.seq, json_set(doc, '$.seq', n.seq, '$.id', 'msg_' || n.seq, '$.direction',
         iif(? = 'RECEIVED', 'INBOUND', 'OUTBOUND'), '$.status', ?)
       from n, messages where messages.seq = 1`,
      count,
      status,
      status,
    );
  });
  // Only a new instance sees rows that were written directly to storage.
  await evictDurableObject(object);
  return { page, object, rowsRead: (run: () => Promise<unknown>) => rowsRead(object, run) };
}

async function statuses(page: Page, count: number): Promise<Frame[]> {
  const frames: Frame[] = [];
  while (frames.length < count) frames.push(await page.next());
  return frames;
}

/** The stored progress of the chat's acknowledgments. */
function placeOf(object: DurableObjectStub): Promise<Record<string, number> | undefined> {
  return runInDurableObject(object, (_object, { storage }) => storage.kv.get("acknowledged"));
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

test.each(["RECEIVED", "FAILED"])(
  "messages that are %s are read once, and not again after an eviction",
  async (status) => {
    const { page, object, rowsRead } = await longChat(2_000, status);
    page.send({ type: "delivered", seq: 2_001 });
    await until(
      "all messages are read",
      () => placeOf(object),
      (place) => place?.DELIVERED === 2_000,
    );
    expect(await page.rest()).toEqual([]);
    const again = async () => {
      for (let n = 0; n < 5; n++) page.send({ type: "delivered", seq: 2_001 - n });
      await page.rest();
    };
    // The last step may be under way, and so may a report.
    await until(
      "nothing is read again",
      async () => sum(await rowsRead(again)),
      (read) => read === 0,
    );
    await evictDurableObject(object);
    expect(sum(await rowsRead(again))).toBeLessThan(150);
  },
);

test("a large backlog is acknowledged completely, in steps", async () => {
  const { page, rowsRead } = await longChat(1_700, "SENT");
  const read = await rowsRead(async () => {
    page.send({ type: "read", seq: 5_000 });
    const frames = await statuses(page, 1_700);
    expect(frames.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_700 }, (_, n) => n + 2));
    expect(new Set(frames.map(({ status }) => status))).toEqual(new Set(["READ"]));
  });
  // The row after the end of the range is read too.
  expect(Math.max(...read)).toBeLessThanOrEqual(501);
  // Read messages are delivered too.
  expect(
    sum(
      await rowsRead(async () => {
        page.send({ type: "delivered", seq: 1_701 });
        expect(await page.rest()).toEqual([]);
      }),
    ),
  ).toBe(0);
});

test("acknowledgments of a deleted chat don't affect its successor", async () => {
  const { api, channelId } = await newOrganization();
  const token = newToken();
  for (const _ of ["the first chat", "the second"]) {
    const { page } = await visit(channelId, { token });
    expect(await page.write("a")).toMatchObject({ type: "stored", seq: 1 });
    const [chat] = (await api("GET", "/chats")).body.chats;
    await send(api, chat.id);
    await page.next();
    expect(await page.ask({ type: "read", seq: 2 })).toEqual({ type: "status", seq: 2, status: "READ" });
    later();
    await admin("DELETE", `/chats/${chat.id}`);
    later();
  }
});

test("web messages are SENT when stored, DELIVERED and READ when acknowledged, and never move back", async () => {
  const { api, channelId, token, messages } = await newVisitor();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  const { ready } = await visit(channelId, { token });
  await sendMany(api, ready.chatId, 3);
  for (const seq of [2, 3, 4]) expect((await page.next()).message).toMatchObject({ seq, status: "SENT" });
  const statuses = async () => (await messages(ready.chatId)).map(({ status }) => status);
  const status = (seq: number, to: string) => ({ type: "status", seq, status: to });

  page.send({ type: "delivered", seq: 3 });
  expect(await page.rest()).toEqual([status(2, "DELIVERED"), status(3, "DELIVERED")]);
  expect(await statuses()).toEqual(["RECEIVED", "DELIVERED", "DELIVERED", "SENT"]);
  page.send({ type: "read", seq: 2 });
  expect(await page.rest()).toEqual([status(2, "READ")]);
  page.send({ type: "delivered", seq: 3 });
  page.send({ type: "read", seq: 2 });
  page.send({ type: "delivered", seq: 0 });
  expect(await page.rest()).toEqual([]);
  page.send({ type: "read", seq: 1_000 });
  expect(await page.rest()).toEqual([status(3, "READ"), status(4, "READ")]);
  expect(await statuses()).toEqual(["RECEIVED", "READ", "READ", "READ"]);
});

test("a change of status changes updatedAt, but not createdAt", async () => {
  const { api, channelId, token, messages } = await newVisitor();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  const { ready } = await visit(channelId, { token });
  const sent = await send(api, ready.chatId);
  await page.next();
  later(5_000);
  await page.ask({ type: "read", seq: 2 });
  expect((await messages(ready.chatId))[1]).toEqual({
    ...sent,
    status: "READ",
    updatedAt: new Date(Date.now()).toISOString(),
    readAt: new Date(Date.now()).toISOString(),
  });
});
