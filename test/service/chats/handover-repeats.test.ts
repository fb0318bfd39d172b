import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { admin, created, expectError } from "../../support/harness.ts";
import { handoverPlace } from "./handover-fixtures.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

test("a handover with an idempotency key is done once", async () => {
  const { handOver, says, api, bot, chatId, messages, handovers } = await handoverPlace();
  await says();
  const body = { to: "people", message: { content: "Wait, please" }, note: { content: "Angry" } };
  const headers = { "Idempotency-Key": "handover-1" };
  const first = await handOver(body, bot, headers);
  expect(first.headers.get("Idempotent-Replayed")).toBeNull();
  const again = await handOver(body, bot, headers);
  expect(again.status, again.text).toBe(200);
  expect(again.headers.get("Idempotent-Replayed")).toBe("true");
  expect(again.body).toEqual(first.body);
  expectError(await handOver({ ...body, note: "Calm" }, bot, headers), 422, "idempotency_mismatch");
  expect(await messages()).toHaveLength(2);
  expect((await api("GET", `/chats/${chatId}/notes`)).body.notes).toHaveLength(1);
  expect(await handovers()).toHaveLength(1);
});

test("a repeat does not take the chat again that was given back meanwhile", async () => {
  const { handOver, shown } = await handoverPlace();
  const headers = { "Idempotency-Key": "handover-2" };
  await handOver({ to: "people" }, undefined, headers);
  await handOver({ to: "bot" });
  await handOver({ to: "people" }, undefined, headers);
  expect((await shown()).handler).toBe("bot");
});

test("an act that is no longer among the last ones is known by its message, or by its note", async () => {
  const { handOver, shown, messages, api, chatId } = await handoverPlace();
  const message = { to: "people", message: { content: "Wait, please" } };
  const note = { to: "people", note: "Angry" };
  const repeat = (body: object, key: string) => handOver(body, api, { "Idempotency-Key": key });
  const sent = (await repeat(message, "message")).body.message;
  await repeat(note, "note");
  await Array.from({ length: 21 }).reduce<Promise<unknown>>(
    (before, _, n) => before.then(() => handOver({ to: n % 2 === 0 ? "bot" : "people" })),
    Promise.resolve(),
  );
  expect((await shown()).handler).toBe("bot");
  expect((await repeat(message, "message")).body).toMatchObject({ chat: { handler: "bot" }, message: sent });
  expect((await repeat(note, "note")).body).toMatchObject({ chat: { handler: "bot" }, message: null });
  expectError(await repeat({ ...message, to: "bot" }, "message"), 422, "idempotency_mismatch");
  expectError(await repeat({ ...note, note: "Calm" }, "note"), 422, "idempotency_mismatch");
  expect(await messages()).toHaveLength(1);
  expect((await api("GET", `/chats/${chatId}/notes`)).body.notes).toHaveLength(1);
});

test("the key of a message is not that of a handover with this message, and a note's key is not its note's", async () => {
  const { handOver, shown, api, chatId } = await handoverPlace();
  const headers = { "Idempotency-Key": "one" };
  created(await api("POST", `/chats/${chatId}/messages`, { content: "Wait, please" }, headers));
  expectError(
    await handOver({ to: "people", message: { content: "Wait, please" } }, api, headers),
    422,
    "idempotency_mismatch",
  );
  expect((await shown()).handler).toBe("bot");
  created(await api("POST", `/chats/${chatId}/notes`, { content: "Calm" }, headers));
  expect((await handOver({ to: "people", note: "Angry" }, api, headers)).status).toBe(200);
  const { notes } = (await api("GET", `/chats/${chatId}/notes`)).body;
  expect(notes.map(({ content }: { content: string }) => content)).toEqual(["Angry", "Calm"]);
});

test("once its texts are gone, nothing of them is left to compare", async () => {
  const { handOver, api, chatId, object } = await handoverPlace();
  const headers = { "Idempotency-Key": "secret" };
  const acts = () => runInDurableObject(object(), (_object, { storage }) => storage.kv.get<object[]>("handoverCalls"));
  const body = { to: "people", message: { content: "Your code is 4711" }, note: "Code 4711" };
  const { message } = (await handOver(body, api, headers)).body;
  const [first] = (await acts()) ?? [];
  expect((await admin("POST", `/chats/${chatId}/messages/${message.id}/redact`)).status).toBe(200);
  const [note] = (await api("GET", `/chats/${chatId}/notes`)).body.notes;
  expect((await api("DELETE", `/chats/${chatId}/notes/${note.id}`)).status).toBe(200);
  const other = { to: "people", message: { content: "Your code is 1234" }, note: "Code 1234" };
  const again = await handOver(other, api, headers);
  expect(again.body.message).toMatchObject({ id: message.id, content: "" });
  expect(again.headers.get("Idempotent-Replayed")).toBe("true");
  await handOver(other, api, { "Idempotency-Key": "other" });
  const fingerprint = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(first).toMatchObject({ fingerprint });
  const fingerprints = ((await acts()) ?? []).map((act) => (act as { fingerprint: string }).fingerprint);
  expect(fingerprints).toHaveLength(2);
  expect(new Set(fingerprints).size, "an act's fingerprint knows nothing of its texts").toBe(1);
});
