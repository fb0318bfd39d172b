import { env } from "cloudflare:workers";
import { expect, onTestFinished, test, vi } from "vitest";
import { R2_DEADLINE_MS } from "../../../../../src/calls/file-bucket.ts";
import { admin, send } from "../../../../support/harness.ts";
import { until } from "../../../../support/until.ts";
import { alarmOf, crash, pass, stopTheClock } from "../delivery/conversation.ts";
import { DAY, type FileChat, MINUTE, messageOf, newFileChat } from "./fixtures.ts";

stopTheClock();

const away = () => Promise.reject(new Error("R2 is away"));
const silent = () => new Promise<never>(() => {});

/** The same contact's chat, in its next life. */
async function again({ api, channelId, chat }: FileChat) {
  const { address } = chat.contact;
  const { body } = await api("POST", "/chats", { channelId, contact: { address } });
  expect(body.chat.id).toBe(chat.id);
}

test("an object that is lost between the bytes and their confirmation leaves nothing for longer than ten minutes", async () => {
  const chat = await newFileChat();
  await chat.write(await chat.reserved());
  await crash(chat.object());
  expect(await chat.bytes()).toHaveLength(1);
  pass(10 * MINUTE);
  await chat.settle();
  expect(await chat.bytes()).toEqual([]);
});

test("the redaction of a scheduled message is repeated until its bytes are gone, also if the alarm deleted them", async () => {
  const chat = await newFileChat();
  const scheduledAt = Date.now() + DAY;
  const first = messageOf(await chat.send(await chat.upload(), { scheduledAt }));
  const second = messageOf(await chat.send(await chat.upload(), { scheduledAt }));
  const deletes = vi.spyOn(env.MEDIA, "delete").mockImplementation(away);
  for (const { id } of [first, second]) expect((await chat.redact(id)).status).toBe(503);
  expect((await chat.redact(first.id)).status).toBe(503);
  deletes.mockRestore();
  expect((await chat.redact(first.id)).status).toBe(200);
  expect(await chat.bytes()).toHaveLength(1);
  pass(MINUTE);
  await chat.settle();
  expect(await chat.bytes()).toEqual([]);
  expect((await chat.redact(second.id)).status).toBe(200);
  expect((await chat.redact(second.id)).status).toBe(404);
});

test("an R2 that says nothing ends a redaction with a 503, and holds up nothing else of the chat", async () => {
  const chat = await newFileChat();
  const { id } = messageOf(await chat.send(await chat.upload()));
  let isLate = false;
  const start = setTimeout;
  vi.stubGlobal("setTimeout", (run: () => void, ms: number) => {
    if (ms !== R2_DEADLINE_MS) return start(run, ms);
    // It polls, because a timer belongs to the object that began it.
    const looks = setInterval(() => {
      if (!isLate) return;
      clearInterval(looks);
      run();
    }, 5);
    return looks;
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const deletes = vi.spyOn(env.MEDIA, "delete").mockImplementation(silent);
  const redaction = chat.redact(id);
  await until("a deletion has begun", () => deletes.mock.calls.length);
  const ring = chat.ring();
  expect((await send(chat.api, chat.chat.id)).status).toBe("SENT");
  expect((await chat.reserve()).outcome).toBe("reserved");
  isLate = true;
  expect((await redaction).status).toBe(503);
  await ring;
  isLate = false;
  deletes.mockRestore();
  expect((await chat.redact(id)).status).toBe(200);
  expect(await chat.bytes()).toEqual([]);
});

test("a file that R2 never deletes holds up no other one, and no earlier life of the chat", async () => {
  const chat = await newFileChat();
  const late = await chat.reserved();
  expect((await admin("DELETE", `/chats/${chat.chat.id}`)).status).toBe(200);
  await chat.write(late);
  await again(chat);
  const stuck = await chat.upload();
  for (let count = 0; count < 5; count++) await chat.upload();
  const remove = env.MEDIA.delete.bind(env.MEDIA);
  const deletes = vi.spyOn(env.MEDIA, "delete").mockImplementation((keys) => {
    return [keys].flat().some((key) => key.endsWith(stuck)) ? away() : remove(keys);
  });
  pass(DAY);
  await chat.settle();
  expect(await chat.bytes()).toEqual([stuck]);
  expect((await chat.rows()).map(({ id }) => id)).toEqual([stuck]);
  deletes.mockRestore();
  pass(MINUTE);
  await chat.settle();
  expect(await chat.bytes()).toEqual([]);
});

test("a chat that is deleted twice in ten minutes leaves no late bytes of its first life", async () => {
  const chat = await newFileChat();
  const late = await chat.reserved();
  expect((await admin("DELETE", `/chats/${chat.chat.id}`)).status).toBe(200);
  await again(chat);
  await chat.upload();
  expect((await admin("DELETE", `/chats/${chat.chat.id}`)).status).toBe(200);
  await chat.write(late);
  pass(10 * MINUTE);
  await chat.settle();
  expect(await chat.bytes()).toEqual([]);
});

test("a tombstone stays until R2 has deleted the bytes that came late", async () => {
  const chat = await newFileChat();
  const late = await chat.reserved();
  expect((await admin("DELETE", `/chats/${chat.chat.id}`)).status).toBe(200);
  await chat.write(late);
  const lists = vi.spyOn(env.MEDIA, "list").mockImplementation(away);
  pass(10 * MINUTE);
  await chat.settle();
  lists.mockRestore();
  expect(await chat.bytes()).toHaveLength(1);
  pass(MINUTE);
  await chat.settle();
  expect(await chat.bytes()).toEqual([]);
  expect(await alarmOf(chat.object())).toBeNull();
});

test("a file that a cancellation gave back is gone after a day, not when its message was to be sent", async () => {
  const chat = await newFileChat();
  const { id } = messageOf(await chat.send(await chat.upload(), { scheduledAt: Date.now() + 30 * DAY }));
  expect((await chat.api("POST", `/chats/${chat.chat.id}/messages/${id}/cancel`)).status).toBe(200);
  pass(DAY);
  await chat.settle();
  expect(await chat.bytes()).toEqual([]);
});

test("a reservation that arrives after its own repeat changes nothing, whether the file is used by then or not", async () => {
  const chat = await newFileChat();
  const [unused, used] = [await chat.upload(), await chat.upload()];
  await chat.send(used);
  await chat.reserve({ id: unused });
  await chat.reserve({ id: used });
  expect(await chat.rows()).toEqual([{ id: unused, state: "unused" }]);
  pass(10 * MINUTE);
  await chat.settle();
  expect((await chat.bytes()).toSorted()).toEqual([unused, used].toSorted());
  expect((await chat.send(unused)).outcome).toBe("stored");
});

test("an upload that repeats another one late has as much time as the first one had", async () => {
  const chat = await newFileChat();
  const file = await chat.reserved({ idempotencyHash: "key" });
  pass(8 * MINUTE);
  expect(await chat.reserved({ idempotencyHash: "key" })).toEqual(file);
  pass(5 * MINUTE);
  await chat.settle();
  await chat.write(file);
  expect((await chat.confirm(file, "key")).outcome).toBe("ok");
});

test("what an upload with the same key writes after the file was redacted goes too", async () => {
  const chat = await newFileChat();
  const file = await chat.reserved({ idempotencyHash: "key" });
  await chat.write(file);
  await chat.confirm(file, "key");
  const { id } = messageOf(await chat.send(file.id));
  expect((await chat.redact(id)).status).toBe(200);
  expect(await chat.bytes()).toEqual([]);
  await chat.write(file);
  pass(10 * MINUTE);
  await chat.settle();
  expect(await chat.bytes()).toEqual([]);
  expect(await chat.rows()).toEqual([]);
});

test("an instance whose clock is behind uses no file whose bytes an earlier one began to delete", async () => {
  const chat = await newFileChat();
  const [unused, confirmed] = [await chat.upload(), await chat.reserved({ idempotencyHash: "key" })];
  pass(10 * MINUTE - 30_000);
  expect((await chat.confirm(confirmed, "key")).outcome).toBe("gone");
  expect((await chat.reserved({ idempotencyHash: "key" })).id).not.toBe(confirmed.id);
  pass(DAY - 10 * MINUTE);
  expect(await chat.send(unused)).toMatchObject({ outcome: "refused", code: "media_not_found" });
});
