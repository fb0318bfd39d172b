import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { admin, client, expectError, newChat, newKey, newOrganization, newTemplate } from "../../support/harness.ts";

async function newSender() {
  const organization = await newOrganization();
  const chat = await newChat(organization.api, organization.channelId);
  const path = `/chats/${chat.id}/messages`;
  const post = (key: string, body: unknown = { content: "Hello" }, api = organization.api) =>
    api("POST", path, body, { "Idempotency-Key": key });
  const total = async () => (await organization.api("GET", path)).body.pagination.total;
  return { ...organization, chat, post, total };
}

test("a used key returns a 201 with the first message, marked as a replay", async () => {
  const { post, total } = await newSender();
  const first = await post("order-7");
  const second = await post("order-7");
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.text).toBe(first.text);
  expect([first.headers.get("Idempotent-Replayed"), second.headers.get("Idempotent-Replayed")]).toEqual([null, "true"]);
  expect(await total()).toBe(1);
});

test("twenty concurrent sends with one key store one message, and nineteen are replays", async () => {
  const { post, total } = await newSender();
  const answers = await Promise.all(Array.from({ length: 20 }, () => post("order-7")));
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
  expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
  expect(answers.filter((answer) => answer.headers.get("Idempotent-Replayed") === "true")).toHaveLength(19);
  expect(await total()).toBe(1);
});

test("bodies with the same meaning are the same request, whatever their spelling", async () => {
  const { post, total } = await newSender();
  await post("order-7", { content: "Hello", metadata: { a: "1", b: "2" }, variables: { x: "1", y: 2 } });
  for (const body of [
    '{"metadata":{"b":"2","a":"1"},"variables":{"y":2,"x":"1"},"content":"Hello"}',
    '{ "content": "Hello",\n"metadata":{"a":"1","b":"2"},"variables":{"x":"1","y":2} }',
    '{"content":"\\u0048ello","metadata":{"a":"1","b":"2"},"variables":{"x":"1","y":2.0}}',
    { content: "Hello", type: "TEXT", senderId: null, metadata: { a: "1", b: "2" }, variables: { x: "1", y: 2 } },
    { content: "Hello", unknown: "9", metadata: { a: "1", b: "2" }, variables: { x: "1", y: 2 } },
  ]) {
    const answer = await post("order-7", body);
    expect(answer.headers.get("Idempotent-Replayed"), JSON.stringify(body)).toBe("true");
  }
  expect(await total()).toBe(1);
});

test("another body with a used key is a 422 and stores nothing", async () => {
  const { post, total } = await newSender();
  await post("order-7");
  for (const body of [
    { content: "hello" },
    { content: "Hello", type: "IMAGE" },
    { content: "Hello", metadata: { a: "1" } },
  ]) {
    const answer = await post("order-7", body);
    expectError(answer, 422, "idempotency_mismatch", /^Idempotency-Key was used with another request$/);
    expect(answer.body.error).toMatch("Idempotency-Key was used with another request");
  }
  expect(await total()).toBe(1);
});

test("a request with the default sender differs from a request without a sender", async () => {
  const { post, ownerId } = await newSender();
  await post("order-7");
  expectError(await post("order-7", { content: "Hello", senderId: ownerId }), 422, "idempotency_mismatch");
});

test("a message is replayed even after its sender and its template were deleted", async () => {
  const { post, organizationId, ownerId } = await newSender();
  const templateId = await newTemplate(organizationId, "Hi {{name}}");
  const body = { content: "Hi", senderId: ownerId, templateId, variables: { name: "Ada" } };
  const first = await post("order-7", body);
  await admin("POST", `/organizations/${organizationId}/members`, { name: "Grace" });
  expect((await admin("DELETE", `/members/${ownerId}`)).status).toBe(200);
  expect((await admin("DELETE", `/templates/${templateId}`)).status).toBe(200);

  expect((await post("order-7", body)).text).toBe(first.text);
  // What was deleted may be used for ten seconds.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 20_000 });
  expectError(await post("order-8", body), 404, "sender_not_found");
});

test("a message is replayed even if its variables no longer fill the changed template", async () => {
  const { post, organizationId } = await newSender();
  const templateId = await newTemplate(organizationId, "Hi {{name}}");
  const body = { content: "Hi", templateId, variables: { name: "Ada" } };
  const first = await post("order-7", body);
  expect((await admin("PATCH", `/templates/${templateId}`, { body: "Hi {{surname}}" })).status).toBe(200);
  expect((await post("order-7", body)).text).toBe(first.text);
});

test.each([
  ["an invalid body", { content: "" }, 400],
  ["an unknown sender", { content: "Hello", senderId: "mbr_nobody" }, 404],
  ["an unknown template", { content: "Hello", templateId: "tpl_none" }, 404],
])("a send that is refused for %s does not use up its key", async (_, refused, status) => {
  const { post } = await newSender();
  expect((await post("order-7", refused)).status).toBe(status);
  const answer = await post("order-7");
  expect([answer.status, answer.headers.get("Idempotent-Replayed")]).toEqual([201, null]);
});

test("two API keys of one organization share a chat's idempotency keys", async () => {
  const { post, organizationId } = await newSender();
  const other = client((await newKey(organizationId)).secret);
  const first = await post("order-7");
  expect((await post("order-7", { content: "Hello" }, other)).text).toBe(first.text);
  expectError(await post("order-7", { content: "Bye" }, other), 422, "idempotency_mismatch");
});

test("two chats do not share an idempotency key", async () => {
  const { api, channelId, post } = await newSender();
  const other = await newChat(api, channelId);
  const first = await post("order-7");
  const key = { "Idempotency-Key": "order-7" };
  const second = await api("POST", `/chats/${other.id}/messages`, { content: "Bye" }, key);
  expect([second.status, second.headers.get("Idempotent-Replayed")]).toEqual([201, null]);
  expect(second.body.message.id).not.toBe(first.body.message.id);
});

test.each([
  ["a quoted and a bare key", '"order-7"', "order-7"],
  ["a key in capitals and one in small letters", "ORDER-7", "order-7"],
  ["a key and a longer one", "order-77", "order-7"],
])("%s are different", async (_, one, other) => {
  const { post, total } = await newSender();
  await post(one);
  await post(other, { content: "Bye" });
  expect(await total()).toBe(2);
});

test("without a key, each send stores another message", async () => {
  const { api, chat, total } = await newSender();
  for (const _ of [1, 2]) await api("POST", `/chats/${chat.id}/messages`, { content: "Hello" });
  expect(await total()).toBe(2);
});

test("a key works in a chat that was not adopted yet, and after an eviction", async () => {
  const { api, channelId } = await newSender();
  const fresh = await newChat(api, channelId);
  const post = () => api("POST", `/chats/${fresh.id}/messages`, { content: "Hello" }, { "Idempotency-Key": "order-7" });
  const first = await post();
  await evictDurableObject(env.CHATS.getByName(fresh.id));
  expect((await post()).text).toBe(first.text);
});

test("a key is still known after thirty days and an eviction, also for another body", async () => {
  const { post, total, chat } = await newSender();
  const first = await post("order-7");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 30 * 86_400_000 });
  await evictDurableObject(env.CHATS.getByName(chat.id));
  const again = await post("order-7");
  expect([again.status, again.headers.get("Idempotent-Replayed"), again.text]).toEqual([201, "true", first.text]);
  expectError(await post("order-7", { content: "Bye" }), 422, "idempotency_mismatch");
  expect(await total()).toBe(1);
});
