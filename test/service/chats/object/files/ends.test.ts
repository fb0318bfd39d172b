import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { admin } from "../../../../support/harness.ts";
import { pass, stopTheClock } from "../delivery/conversation.ts";
import { DAY, MINUTE, messageOf, newFileChat } from "./fixtures.ts";

stopTheClock();

test("a message that expired before it had a place keeps its file for 30 days, as it can be sent again", async () => {
  const chat = await newFileChat();
  const expiresAt = Date.now() + MINUTE;
  const { id } = messageOf(await chat.send(await chat.upload(), { scheduledAt: expiresAt + MINUTE, expiresAt }));
  const path = `/chats/${chat.chat.id}/messages/${id}`;
  pass(2 * MINUTE);
  await chat.settle();
  expect((await chat.api("GET", path)).body.message).toMatchObject({ status: "FAILED", media: { fileName: "a.png" } });
  pass(30 * DAY - MINUTE);
  await chat.settle();
  expect((await chat.api("GET", `${path}/media`)).text).toBe("bytes");
  pass(MINUTE);
  await chat.settle();
  expect((await chat.api("GET", path)).status).toBe(404);
  expect(await chat.bytes()).toEqual([]);
});

test("a key of a deleted chat is a new one in the chat after it", async () => {
  const chat = await newFileChat();
  const first = await chat.upload({ idempotencyHash: "key" });
  expect((await admin("DELETE", `/chats/${chat.chat.id}`)).status).toBe(200);
  const { address } = chat.chat.contact;
  await chat.api("POST", "/chats", { channelId: chat.channelId, contact: { address } });
  const again = await chat.upload({ idempotencyHash: "key", size: 6 });
  expect(again).not.toBe(first);
  expect(await chat.bytes()).toEqual([again]);
});

test("R2 deletes a thousand files in one call, and the alarm rings again for more", async () => {
  const chat = await newFileChat();
  const files = await Promise.all([chat.upload(), chat.upload()]);
  await runInDurableObject(chat.object(), (_object, { storage }) => {
    const ended = JSON.stringify({ state: "ended", size: 1, messageId: "msg_1" });
    for (let n = 0; n < 999; n++) storage.sql.exec("insert into files values (?, ?, 1)", `med_${n}`, ended);
    storage.sql.exec("update files set delete_at = ?", Date.now());
  });
  await evictDurableObject(chat.object());
  const deletes = vi.spyOn(env.MEDIA, "delete");
  await runInDurableObject(chat.object(), (_object, { storage }) => storage.setAlarm(Date.now()));
  await chat.settle();
  expect(deletes.mock.calls.map(([keys]) => keys.length)).toEqual([1_000, 1]);
  expect(await chat.rows()).toEqual([]);
  for (const file of files) expect(await chat.bytes()).not.toContain(file);
});

test("a chat whose storage is nearly full takes no uploads", async () => {
  const chat = await newFileChat();
  await chat.upload();
  await evictDurableObject(chat.object());
  await runInDurableObject(chat.object(), (_object, { storage }) => {
    Object.defineProperty(storage.sql, "databaseSize", { value: 9_900_000_000 });
  });
  expect(await chat.reserve()).toEqual({ outcome: "refused", code: "chat_full" });
  expect(await chat.rows()).toHaveLength(1);
});
