import { expect, test, vi } from "vitest";
import { aroundCall, breakObjects } from "../../support/faults.ts";
import { admin, created, expectError } from "../../support/harness.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";
import { KEY, personPlace } from "./person-fixtures.ts";

stopTheClock();

test.each(["new", "existing"])(
  "of requests at once one sets the person of a chat that is %s, and all say who it is",
  async (kind) => {
    for (let round = 0; round < 5; round++) {
      const { chatId, address, open, api, updates } = await personPlace();
      const contact = kind === "new" ? { address: `new-${round}@acme.test` } : { address };
      const keys = ["a", "b", "c"];
      const answers = await Promise.all(keys.map((personId) => open({ ...contact, personId })));
      const [first, ...others] = answers.map(({ body }) => body.chat.contact.personId);
      expect(keys).toContain(first);
      expect(others).toEqual([first, first]);
      const [id] = answers.map(({ body }) => body.chat.id);
      expect((await api("GET", `/chats/${id}`)).body.chat.contact.personId).toBe(first);
      expect(await updates(id)).toHaveLength(kind === "new" ? 0 : 1);
      expect(id === chatId).toBe(kind === "existing");
    }
  },
);

test("of PATCHes at once the later one holds, and each that changed something is an event", async () => {
  const { change, shown, listed, updates, chatId } = await personPlace();
  await Promise.all(["a", "b", null, "c"].map((personId) => change({ contact: { personId } })));
  const { personId } = (await shown()).contact;
  expect((await listed()).contact.personId).toBe(personId);
  expect(await updates(chatId)).not.toHaveLength(0);
});

test("a chat that is being deleted gets no person, and one that begins again has none", async () => {
  const { api, change, open, chatId } = await personPlace();
  await change({ contact: { personId: KEY } });
  breakObjects("CHATS", "erase");
  expectError(await admin("DELETE", `/chats/${chatId}`), 503, "unavailable");
  vi.restoreAllMocks();
  expectError(await change({ contact: { personId: "b" } }), 404, "chat_not_found");
  expectError(await open({ personId: "b" }), 503, "unavailable");
  expect((await api("GET", `/chats?person=${KEY}`)).body.chats).toEqual([]);
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  const again = created(await open({})).chat;
  expect(again.contact.personId).toBeNull();
  expect((await api("GET", `/chats?person=${KEY}`)).body.chats).toEqual([]);
});

test("a chat that is deleted while POST sets its person is a 503, and the repeated request gets a new chat", async () => {
  const { open, chatId } = await personPlace();
  aroundCall("CHATS", "setPerson", {
    before: async () => expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200),
  });
  expectError(await open({ personId: KEY }), 503, "unavailable");
  vi.restoreAllMocks();
  expect(created(await open({ personId: KEY })).chat.contact.personId).toBe(KEY);
});

test("a change is a 503 while the organization's object does not answer, and can be repeated", async () => {
  const { open, change, listed, updates, chatId, evict } = await personPlace();
  const { id } = created(await open({ address: "new@acme.test" })).chat;
  breakObjects("ORGANIZATIONS", "find");
  expectError(await change({ contact: { personId: KEY } }, id), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await change({}, id)).body.chat.contact.personId).toBeNull();
  for (const call of [() => open({ personId: KEY }), () => change({ contact: { personId: KEY } })]) {
    breakObjects("ORGANIZATIONS", "report");
    expectError(await call(), 503, "unavailable");
    vi.restoreAllMocks();
    await evict();
    expect((await call()).body.chat.contact.personId).toBe(KEY);
    expect((await listed()).contact.personId).toBe(KEY);
    await change({ contact: { personId: null } });
  }
  expect((await updates(chatId)).map(({ data }) => data.chat.contact.personId)).toHaveLength(4);
});
