import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { admin, newOrganization, send } from "../../support/harness.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { type Frame, newToken, objectOf, type Page, visit } from "../../support/sockets.ts";
import { stopTheClock } from "../delivery/conversation.ts";

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

/** The stored progress of the chat's acknowledgements. */
function placeOf(object: DurableObjectStub): Promise<unknown> {
  return runInDurableObject(object, (_object, { storage }) => storage.kv.get("acknowledged"));
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

test.each(["RECEIVED", "FAILED"])(
  "messages that are %s are read once, and not again after an eviction",
  async (status) => {
    const { page, object, rowsRead } = await longChat(2_000, status);
    page.send({ type: "delivered", seq: 2_001 });
    await vi.waitFor(async () => expect(await placeOf(object)).toMatchObject({ DELIVERED: 2_000 }), { timeout: 4_000 });
    expect(await page.rest()).toEqual([]);
    const again = async () => {
      for (let n = 0; n < 5; n++) page.send({ type: "delivered", seq: 2_001 - n });
      await page.rest();
    };
    expect(sum(await rowsRead(again))).toBe(0);
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

test("acknowledgements of a deleted chat don't affect its successor", async () => {
  const { api, channelId } = await newOrganization();
  const token = newToken();
  for (const _ of ["the first chat", "the second"]) {
    const { page } = await visit(channelId, { token });
    expect(await page.write("a")).toMatchObject({ type: "stored", seq: 1 });
    const [chat] = (await api("GET", "/chats")).body.chats;
    await send(api, chat.id);
    await page.next();
    expect(await page.ask({ type: "read", seq: 2 })).toEqual({ type: "status", seq: 2, status: "READ" });
    vi.setSystemTime(Date.now() + 1_000);
    await admin("DELETE", `/chats/${chat.id}`);
    vi.setSystemTime(Date.now() + 1_000);
  }
});
