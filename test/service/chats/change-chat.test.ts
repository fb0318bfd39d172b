import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { breakObjects } from "../../support/faults.ts";
import { client, expectError, expectFaults, newKey, newOrganization } from "../../support/harness.ts";
import { report, writeAsContact } from "./inbound.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

async function place() {
  const organization = await newOrganization();
  const { api, organizationId, channelId } = organization;
  const contact = { address: "ada@acme.test", name: "Ada" };
  const { chat } = (await api("POST", "/chats", { channelId, contact, metadata: { plan: "gold", city: "Turin" } }))
    .body;
  const { secret } = await newKey(organizationId, { permissions: ["events:read"] });
  return {
    ...organization,
    chat: chat as Chat,
    path: `/chats/${chat.id}`,
    object: env.CHATS.getByName(chat.id),
    patch: (body: unknown) => api("PATCH", `/chats/${chat.id}`, body),
    write: () => writeAsContact(organizationId, chat.id),
    listed: async () => (await api("GET", "/chats")).body.chats[0] as Chat,
    unanswered: async () => (await api("GET", "/chats?unanswered=true")).body.chats.length,
    updates: async (): Promise<{ data: { chat: Chat } }[]> => {
      const answer = await client(secret)("GET", `/chats/${chat.id}/events`);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.events.filter(({ type }: { type: string }) => type === "chat.updated");
    },
  };
}

test("PATCH /chats/{id} changes the name and the metadata for all routes, and makes one event", async () => {
  const { api, chat, patch, path, listed, updates, channelId } = await place();
  const answer = await patch({ contact: { name: "Ada L." }, metadata: { plan: "silver", order: "4711" } });
  const changed = {
    ...chat,
    contact: { ...chat.contact, name: "Ada L." },
    metadata: { plan: "silver", city: "Turin", order: "4711" },
  };
  expect([answer.status, answer.body]).toEqual([200, { chat: changed }]);
  expect((await api("GET", path)).body).toEqual({ chat: changed });
  expect(await listed()).toEqual(changed);
  const again = await api("POST", "/chats", { channelId, contact: { address: "ada@acme.test", name: "Other" } });
  expect([again.status, again.body]).toEqual([200, { chat: changed }]);
  expect((await updates()).map(({ data }) => data.chat)).toEqual([changed]);
});

test("absent fields don't change, null removes, and a patch that changes nothing makes no event", async () => {
  const { chat, patch, updates } = await place();
  for (const body of [
    {},
    { contact: {} },
    { metadata: {} },
    { contact: { name: "Ada" }, metadata: { plan: "gold" } },
  ]) {
    expect((await patch(body)).body).toEqual({ chat });
  }
  expect(await updates()).toHaveLength(0);
  expect((await patch({ contact: { name: null } })).body.chat).toMatchObject({
    contact: { address: "ada@acme.test", name: null },
    metadata: chat.metadata,
  });
  expect((await patch({ metadata: { plan: null, none: null } })).body.chat.metadata).toEqual({ city: "Turin" });
  expect((await patch({ metadata: null })).body.chat).toMatchObject({ contact: { name: null }, metadata: {} });
  expect(await updates()).toHaveLength(3);
});

test("concurrent patches keep each other's changes", async () => {
  const { patch, listed, updates } = await place();
  await Promise.all([
    patch({ contact: { name: "B" } }),
    patch({ metadata: { one: "1" } }),
    patch({ metadata: { two: "2" } }),
  ]);
  expect(await listed()).toMatchObject({ contact: { name: "B" }, metadata: { city: "Turin", one: "1", two: "2" } });
  expect(await updates()).toHaveLength(3);
});

test("a change survives an eviction and later reports", async () => {
  const { api, chat, object, patch, path, write, listed } = await place();
  await patch({ contact: { name: "Ada L." } });
  await evictDurableObject(object);
  await write();
  await report(chat.id);
  await evictDurableObject(env.ORGANIZATIONS.getByName((await object.owner())?.organizationId ?? ""));
  expect((await listed()).contact.name).toBe("Ada L.");
  expect((await api("GET", path)).body.chat.contact.name).toBe("Ada L.");
});

test.each([
  [{ contact: { name: "" } }, "contact.name"],
  [{ contact: { name: "x".repeat(257) } }, "contact.name"],
  [{ contact: { name: 1 } }, "contact.name"],
  [{ metadata: { a: 1 } }, "metadata.a"],
  [{ metadata: { ["k".repeat(41)]: "v" } }, `metadata.${"k".repeat(41)}`],
  [{ metadata: { a: "x".repeat(501) } }, "metadata.a"],
  [{ metadata: "gold" }, "metadata"],
  [{ metadata: JSON.parse('{"__proto__":"x"}') }, "metadata"],
  [{ metadata: Object.fromEntries(Array.from({ length: 19 }, (_, n) => [`k${n}`, "v"])) }, "metadata"],
  [{ metadata: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, "v".repeat(500)])) }, "metadata"],
])("PATCH /chats/{id} with %j is a 400 that names %s, and changes nothing", async (body, fault) => {
  const { api, chat, patch, path } = await place();
  expectFaults(await patch(body), fault);
  expect((await api("GET", path)).body).toEqual({ chat });
});

test("PATCH /chats/{id} with a contact that is null removes its name, and never its address", async () => {
  const { chat, patch } = await place();
  const answer = await patch({ contact: null });
  expect(answer.body.chat.contact).toEqual({ ...chat.contact, name: null });
});

test("a patch is a 503 while the organization's object does not answer, and can be repeated", async () => {
  const { api, chat, object, patch, path, listed, updates } = await place();
  breakObjects("ORGANIZATIONS", "find");
  expectError(await patch({ metadata: { a: "1" } }), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await api("GET", path)).body).toEqual({ chat });
  breakObjects("ORGANIZATIONS", "report");
  expectError(await patch({ metadata: { a: "1" } }), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await listed()).metadata).toEqual(chat.metadata);
  await evictDurableObject(object);
  expect((await patch({ metadata: { a: "1" } })).body.chat.metadata).toEqual({ ...chat.metadata, a: "1" });
  expect((await listed()).metadata).toEqual({ ...chat.metadata, a: "1" });
  expect(await updates()).toHaveLength(1);
});

test("POST /chats/{id}/answered takes the chat off the list of the unanswered permanently", async () => {
  const { api, chat, object, path, write, unanswered } = await place();
  await write();
  await report(chat.id);
  expect(await unanswered()).toBe(1);
  const answer = await api("POST", `${path}/answered`);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.chat).toMatchObject({ id: chat.id, unansweredSince: null, lastMessage: { text: "Hi" } });
  expect(await unanswered()).toBe(0);
  await evictDurableObject(object);
  expect((await api("GET", path)).body.chat.unansweredSince).toBeNull();
  expect((await api("POST", `${path}/answered`)).body).toEqual(answer.body);
  await report(chat.id);
  expect(await unanswered()).toBe(0);
});

test.each([false, true])(
  "a message that arrives after POST /chats/{id}/answered counts again (evicted: %s)",
  async (isEvicted) => {
    const { api, chat, object, path, write, unanswered } = await place();
    await write();
    await api("POST", `${path}/answered`);
    if (isEvicted) await evictDurableObject(object);
    vi.setSystemTime(Date.now() + 1_000);
    const { createdAt } = await write();
    if (isEvicted) await evictDurableObject(object);
    await report(chat.id);
    expect(await unanswered()).toBe(1);
    expect((await api("GET", path)).body.chat.unansweredSince).toBe(createdAt);
  },
);

test("POST /chats/{id}/answered is a 503 while the organization's object does not answer, and can be repeated", async () => {
  const { api, chat, object, path, write, unanswered } = await place();
  await write();
  await report(chat.id);
  breakObjects("ORGANIZATIONS", "report");
  expectError(await api("POST", `${path}/answered`), 503, "unavailable");
  vi.restoreAllMocks();
  expect(await unanswered()).toBe(1);
  await evictDurableObject(object);
  expect((await api("POST", `${path}/answered`)).status).toBe(200);
  expect(await unanswered()).toBe(0);
});

/** Writes to the contact. */
async function sendTo(api: Awaited<ReturnType<typeof place>>["api"], path: string) {
  expect((await api("POST", `${path}/messages`, { content: "Hello" })).status).toBe(201);
}

test.each([false, true])(
  "DELETE /chats/{id}/answered takes it back: the chat waits since the first message that nobody answered (evicted: %s)",
  async (isEvicted) => {
    const { api, chat, object, path, write, unanswered } = await place();
    await write();
    await sendTo(api, path);
    vi.setSystemTime(Date.now() + 1_000);
    const first = await write();
    vi.setSystemTime(Date.now() + 1_000);
    await write();
    await api("POST", `${path}/answered`);
    if (isEvicted) await evictDurableObject(object);
    vi.setSystemTime(Date.now() + 1_000);
    // The wait since this one is taken back too.
    await write();
    const answer = await api("DELETE", `${path}/answered`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.chat).toMatchObject({ id: chat.id, unansweredSince: first.createdAt });
    expect(await unanswered()).toBe(1);
    if (isEvicted) await evictDurableObject(object);
    expect((await api("DELETE", `${path}/answered`)).body).toEqual(answer.body);
    expect((await api("GET", path)).body).toEqual(answer.body);
    await api("POST", `${path}/answered`);
    expect(await unanswered()).toBe(0);
  },
);

test("DELETE /chats/{id}/answered is a 409 where the contact has not written since the last message", async () => {
  const { api, chat, path, write } = await place();
  expectError(await api("DELETE", `${path}/answered`), 409, "nothing_unanswered");
  await write();
  await sendTo(api, path);
  const { body } = await api("GET", path);
  expectError(await api("DELETE", `${path}/answered`), 409, "nothing_unanswered");
  expect((await api("GET", path)).body).toEqual(body);
  expect(body.chat).toMatchObject({ id: chat.id, unansweredSince: null });
});

test("DELETE /chats/{id}/answered looks at the newest 1,000 messages, and never makes a wait shorter", async () => {
  const { api, chat, object, path, write } = await place();
  const first = await write();
  await report(chat.id);
  vi.setSystemTime(Date.now() + 60_000);
  const second = await write();
  // As if 999 more had come.
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec("update messages set seq = 1002 where seq = 2");
  });
  await evictDurableObject(object);
  expect((await api("DELETE", `${path}/answered`)).body.chat.unansweredSince).toBe(first.createdAt);
  await api("POST", `${path}/answered`);
  expect((await api("DELETE", `${path}/answered`)).body.chat.unansweredSince).toBe(second.createdAt);
});

test("DELETE /chats/{id}/answered is a 503 while the organization's object does not answer, and can be repeated", async () => {
  const { api, object, path, write, unanswered } = await place();
  await write();
  await api("POST", `${path}/answered`);
  breakObjects("ORGANIZATIONS", "report");
  expectError(await api("DELETE", `${path}/answered`), 503, "unavailable");
  vi.restoreAllMocks();
  expect(await unanswered()).toBe(0);
  await evictDurableObject(object);
  expect((await api("DELETE", `${path}/answered`)).status).toBe(200);
  expect(await unanswered()).toBe(1);
});

test("a chat without messages can be marked as answered", async () => {
  const { api, chat, path } = await place();
  expect((await api("POST", `${path}/answered`)).body).toEqual({ chat });
});
