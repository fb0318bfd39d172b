import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { renderEvent } from "../../../src/model/event-json.ts";
import { runAlarm } from "../../support/alarms.ts";
import { aroundCall, countHops, replaceMethod } from "../../support/faults.ts";
import { admin, client, created, expectError, expectFaults, newKey } from "../../support/harness.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { asUser, newSite, signUser, visit } from "../../support/sockets.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";
import { later } from "./object/visitors/new-visitor.ts";
import { KEY, personPlace } from "./person-fixtures.ts";

stopTheClock();

test("a chat is created with its person, whom every route shows, and that is no change", async () => {
  const { open, api, listed, updates, organizationId } = await personPlace();
  const made = created(await open({ address: "new@acme.test", personId: KEY })).chat;
  expect(made.contact).toMatchObject({ name: "Ada", personId: KEY });
  expect((await api("GET", `/chats/${made.id}`)).body.chat.contact).toEqual(made.contact);
  expect((await listed(made.id)).contact).toEqual(made.contact);
  expect(await updates(made.id)).toEqual([]);
  const { secret } = await newKey(organizationId, { permissions: ["data:export", "events:read"] });
  const exported = await client(secret)("GET", `/chats/${made.id}/export`);
  expect(exported.text).toContain(`"personId":"${KEY}"`);
  const [event] = (await client(secret)("GET", `/chats/${made.id}/events`)).body.events;
  expect(event).toMatchObject({ type: "chat.created", data: { chat: { contact: made.contact } } });
});

test("POST /chats sets the person of an existing chat only where it has none, and makes one event", async () => {
  const { chatId, open, shown, listed, updates, evict } = await personPlace();
  expect((await shown()).contact.personId).toBeNull();
  const set = await open({ personId: KEY });
  expect([set.status, set.body.chat]).toEqual([200, await shown()]);
  expect(set.body.chat.contact).toMatchObject({ name: "Ada", personId: KEY });
  expect(await listed()).toEqual(set.body.chat);
  await evict();
  for (const other of [{ personId: "other" }, { personId: KEY }, { name: "Eve" }, { personId: null }]) {
    const again = await open(other);
    expect([again.status, again.body.chat.contact]).toEqual([200, set.body.chat.contact]);
  }
  expect((await updates(chatId)).map(({ data }) => data.chat.contact.personId)).toEqual([KEY]);
});

test("PATCH sets, replaces and clears the person, keeps the rest, and each change is one event", async () => {
  const { change, shown, listed, updates, chatId, evict, organizationId } = await personPlace();
  const before = await shown();
  expect((await change({ contact: { personId: KEY } })).body.chat).toEqual({
    ...before,
    contact: { ...before.contact, personId: KEY },
  });
  await change({ contact: { personId: KEY } });
  await evict();
  expect((await change({ contact: { name: "Ada L." } })).body.chat.contact).toMatchObject({
    ...{ name: "Ada L.", personId: KEY },
  });
  expect((await change({ contact: { personId: "b", name: "B" }, metadata: { plan: "gold" } })).body.chat).toMatchObject(
    {
      contact: { name: "B", personId: "b" },
      metadata: { plan: "gold" },
    },
  );
  expect((await change({ contact: { personId: null } })).body.chat.contact).toMatchObject({
    ...{ name: "B", personId: null },
  });
  await change({ contact: { personId: null } });
  await evictDurableObject(env.ORGANIZATIONS.getByName(organizationId));
  expect(await listed()).toEqual(await shown());
  await change({ contact: { personId: KEY } });
  expect((await change({ contact: null })).body.chat.contact).toMatchObject({ name: null, personId: null });
  expect((await updates(chatId)).length).toBe(6);
});

test("a person's key is cleared, also where only the chat's creation said it, and can then be set again", async () => {
  const { open, change, api, listed } = await personPlace();
  const { id } = created(await open({ address: "bo@acme.test", personId: KEY })).chat;
  expect((await change({ contact: { name: "Bo" } }, id)).body.chat.contact).toMatchObject({
    ...{ name: "Bo", personId: KEY },
  });
  expect((await change({ contact: { personId: null } }, id)).body.chat.contact.personId).toBeNull();
  expect((await listed(id)).contact.personId).toBeNull();
  const again = await open({ address: "bo@acme.test", personId: "b" });
  expect(again.body.chat.contact).toMatchObject({ name: "Bo", personId: "b" });
  expect((await api("GET", `/chats/${id}`)).body.chat).toEqual(again.body.chat);
});

test("the person, the assignee, the state and the marketing change together, or not at all", async () => {
  const { change, shown, ownerId } = await personPlace();
  const all = { contact: { personId: KEY }, assigneeId: ownerId, state: "closed", marketing: { optedOut: true } };
  const before = await shown();
  expectError(await change({ ...all, ifAssigneeId: ownerId }), 409, "chat_reassigned");
  expectError(await change({ ...all, ifSeq: 9 }), 409, "chat_moved_on");
  expect(await shown()).toEqual(before);
  expect((await change(all)).body.chat).toMatchObject({ ...all, contact: { personId: KEY } });
});

test.each([
  ["129 characters", "x".repeat(129)],
  ["spaces only", "   "],
  ["what can't be seen", "\u200b\u2060"],
  ["nothing", ""],
  ["a line break", "a\nb"],
  ["a control character", "a\u0000"],
  ["another one", "\u009b2J"],
  ["half a character", "\ud83d"],
  ["a number", 2044],
  ["a list", ["a"]],
  ["an object", { id: "a" }],
  ["true", true],
])("a person's key that is %s is a 400, and changes nothing", async (_, personId) => {
  const { open, change, shown, updates, chatId, api } = await personPlace();
  const before = await shown();
  expectFaults(await change({ contact: { personId, name: "Eve" } }), "contact.personId");
  expectFaults(await open({ personId }), "contact.personId");
  expectFaults(await open({ address: "new@acme.test", personId }), "contact.personId");
  expect(await shown()).toEqual(before);
  expect(await updates(chatId)).toEqual([]);
  expect((await api("GET", "/chats")).body.pagination.total).toBe(1);
});

test.each(["x".repeat(128), "Größe 7/ä", "日本", "👩‍👩‍👧", " a ", "__proto__", "null", "%", "' or 1=1 --"])(
  "a person's key can be %j, and finds exactly its chats",
  async (personId) => {
    const { open, change, chatId, api } = await personPlace();
    expect((await change({ contact: { personId } })).body.chat.contact.personId).toBe(personId);
    const other = created(await open({ address: "new@acme.test", personId })).chat;
    created(await open({ address: "else@acme.test", personId: [...personId].with(0, "!").join("") }));
    const { chats } = (await api("GET", `/chats?person=${encodeURIComponent(personId)}`)).body;
    const found: string[] = chats.map(({ id }: { id: string }) => id);
    expect(new Set(found)).toEqual(new Set([chatId, other.id]));
  },
);

test("a key without chats:write sets no person, and one without chats:read is not shown it", async () => {
  const { open, change, organizationId, shown, chatId } = await personPlace();
  await change({ contact: { personId: KEY } });
  const reader = client((await newKey(organizationId, { permissions: ["chats:read", "messages:send"] })).secret);
  expectError(await change({ contact: { personId: "b" } }, chatId, reader), 403, "permission_denied");
  expectError(await open({ personId: "b" }, reader), 403, "permission_denied");
  const writer = client((await newKey(organizationId, { permissions: ["chats:write"] })).secret);
  expect((await open({ personId: "b" }, writer)).body.chat.contact.personId).toBeNull();
  expect((await change({}, chatId, writer)).body.chat.contact.personId).toBeNull();
  expect((await shown()).contact.personId).toBe(KEY);
  const made = await open({ address: "new@acme.test", personId: "b" }, writer);
  expect(created(made).chat.contact.personId).toBe("b");
  expectError(await writer("GET", `/chats?person=${KEY}`), 403, "permission_denied");
});

test("the person of a chat of another organization can't be set or found", async () => {
  const [one, other] = [await personPlace(), await personPlace()];
  await one.change({ contact: { personId: KEY } });
  expectError(await other.api("PATCH", one.path, { contact: { personId: "b" } }), 404, "chat_not_found");
  expect((await other.api("GET", `/chats?person=${KEY}`)).body.chats).toEqual([]);
});

test("no word of a visitor is a person, signed or not", async () => {
  const { channelId, secret, api, organizationId } = await newSite();
  for (const protocols of [undefined, asUser("user-4711", await signUser("user-4711", secret))]) {
    const { page } = await visit(channelId, protocols ? { protocols } : { token: "a".repeat(22) });
    await page.write("a");
    page.send({ type: "contact", name: "Eve", personId: KEY, contact: { personId: KEY } });
    later();
    page.send({ type: "message", id: "two", content: "b", personId: KEY });
    await page.rest();
  }
  const { chats } = (await api("GET", "/chats")).body;
  expect(chats.map(({ contact }: { contact: object }) => contact)).toMatchObject([
    { personId: null },
    { personId: null },
  ]);
  // What the company says is not shown to the visitor.
  for (const { id } of chats) await api("PATCH", `/chats/${id}`, { contact: { personId: KEY } });
  const { page, ready } = await visit(channelId, { token: "a".repeat(22) });
  later();
  page.send({ type: "contact", name: "Eve", email: "eve@example.com" });
  await page.write("c");
  expect(JSON.stringify([ready, await page.rest()])).not.toContain(KEY);
  expect((await api("GET", `/chats?person=${KEY}`)).body.chats).toHaveLength(2);
  const { secret: auditor } = await newKey(organizationId, { permissions: ["audit:read"] });
  expect((await client(auditor)("GET", "/audit")).text).not.toContain(KEY);
});

test("what the operator, the log of acts and a thin event hold of a person", async () => {
  const { api, organizationId, channelId, open } = await personPlace();
  const lines: unknown[] = [];
  vi.spyOn(console, "log").mockImplementation((line) => void lines.push(line));
  const asked = { channelId, contact: { address: "op@acme.test", personId: KEY } };
  const { chat } = created(await admin("POST", `/organizations/${organizationId}/chats`, asked));
  expect(chat.contact.personId).toBe(KEY);
  const list = await admin("GET", `/organizations/${organizationId}/chats?person=${KEY}`);
  expect(list.body.chats).toEqual([chat]);
  created(await open({ address: "new@acme.test", personId: KEY }));
  await api("PATCH", `/chats/${chat.id}`, { contact: { personId: `${KEY}0` } });
  await api("GET", `/chats?person=${KEY}0`);
  const audit = await admin("GET", `/organizations/${organizationId}/audit`);
  expect(audit.text).toContain("chat.create");
  expect(audit.text).not.toContain(KEY);
  expect(JSON.stringify(lines)).not.toContain(KEY);
  const fact = { number: 1, type: "chat.updated", seq: null, note: null, at: 0 } as const;
  const { data } = renderEvent(fact, { organizationId, chat: null }, "00000000", { chat }, "thin");
  expect(data).toEqual({});
});

test.each(["changePerson", "setPerson"])(
  "a person that an object does not know, because it runs an earlier version without %s, is a 503, and nothing changes",
  async (method) => {
    const { open, change, shown } = await personPlace();
    const before = await shown();
    const unknown = new TypeError(`The RPC receiver does not implement "${method}".`);
    aroundCall("CHATS", method, { before: () => Promise.reject(Object.assign(unknown, { remote: true })) });
    const call = method === "setPerson" ? open({ personId: KEY }) : change({ contact: { personId: KEY, name: "Eve" } });
    expectError(await call, 503, "unavailable");
    vi.restoreAllMocks();
    expect(await shown()).toEqual(before);
  },
);

test("a chat that an organization's object of an earlier version created without its person still gets it", async () => {
  const { open } = await personPlace();
  const ofEarlier = replaceMethod("ORGANIZATIONS", "open", (original) => (request) => {
    const { personId: _, ...known } = request as { personId?: string };
    return original(known);
  });
  const made = created(await open({ address: "new@acme.test", personId: KEY })).chat;
  ofEarlier();
  expect(made.contact.personId).toBe(KEY);
});

test("details that an object of an earlier version stored say nothing of the person, who stays", async () => {
  const { open, change, evict, listed, shown, report, api } = await personPlace();
  const { id } = created(await open({ address: "new@acme.test", personId: KEY })).chat;
  const object = env.CHATS.getByName(id);
  await runInDurableObject(object, (_object, { storage }) => {
    storage.kv.put("details", { name: "Old", metadata: { plan: "old" } });
  });
  await evictDurableObject(object);
  await report(id);
  expect((await listed(id)).contact).toMatchObject({ name: "Old", personId: KEY });
  expect((await open({ address: "new@acme.test", personId: "b" })).body.chat.contact.personId).toBe(KEY);
  expect((await change({ contact: { name: "New" } }, id)).body.chat).toMatchObject({
    contact: { name: "New", personId: KEY },
    metadata: { plan: "old" },
  });
  expect((await change({ contact: { personId: null } }, id)).body.chat).toMatchObject({
    contact: { name: "New", personId: null },
    metadata: { plan: "old" },
  });
  expect((await api("GET", `/chats?person=${KEY}`)).body.chats).toEqual([]);
  await evict();
  expect((await shown()).contact.personId).toBeNull();
});

test("a chat without a person costs no row and no call more, and a message to one with a person costs none", async () => {
  const [without, withOne] = [await personPlace(), await personPlace()];
  await without.change({ contact: { name: "Bea" } });
  await withOne.change({ contact: { name: "Bea", personId: KEY } });
  const cost = async ({ organizationId, object, says, post, report, chatId }: typeof without) => {
    const organization = () => env.ORGANIZATIONS.getByName(organizationId);
    const work = async () => {
      await says();
      created(await post());
      await report(chatId);
    };
    await work();
    await runAlarm(object());
    // The organization's object writes during the chat's report.
    let inChat: object = {};
    const inOrganization = await objectWrites({ object: organization }, async () => {
      inChat = await objectWrites({ object }, work);
    });
    return { inChat, inOrganization };
  };
  const [plain, other] = [await cost(without), await cost(withOne)];
  expect(other).toEqual(plain);
  const hops = countHops();
  await without.change({ contact: { name: "Bo" } });
  const named = hops();
  await without.open({});
  expect(hops()).toEqual({ KEYS: 1, ORGANIZATIONS: 1 });
  await withOne.change({ contact: { name: "Bo" } });
  expect(hops()).toEqual(named);
  await withOne.open({ personId: KEY });
  expect(hops()).toEqual({ KEYS: 1, ORGANIZATIONS: 1 });
});
