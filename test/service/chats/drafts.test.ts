import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { MAX_DRAFTS, MAX_NOTES, type Note } from "../../../src/model/note.ts";
import { type Client, client, created, expectError, newChat, newKey, newOrganization } from "../../support/harness.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";
import { retainedPlace } from "./object/retention/fixtures.ts";

stopTheClock();

async function place() {
  const organization = await newOrganization();
  const { api, organizationId, channelId } = organization;
  const { id } = await newChat(api, channelId);
  const key = async (permissions: string[], more: object = {}): Promise<Client> =>
    client((await newKey(organizationId, { permissions, ...more })).secret);
  const agent = await key(["notes:write", "notes:read"], { draftsOnly: true });
  const person = await key(["notes:read", "notes:write", "messages:send", "messages:read", "events:read"]);
  return {
    ...{ ...organization, id, key, agent, person },
    draft: async (content: string, by = agent): Promise<Note> =>
      created(await by("POST", `/chats/${id}/notes`, { content, draft: true })).note,
    notes: async (): Promise<Note[]> => (await person("GET", `/chats/${id}/notes`)).body.notes,
    send: (body: object, by = person, headers = {}) => by("POST", `/chats/${id}/messages`, body, headers),
    sent: async (): Promise<string[]> =>
      (await person("GET", `/chats/${id}/messages`)).body.messages.map(({ text }: { text: string }) => text),
    events: async () => (await person("GET", `/chats/${id}/events`)).body.events,
  };
}

test("a key with draftsOnly writes a draft, and its next one replaces it", async () => {
  const { id, agent, draft, notes, events } = await place();
  const first = await draft("First");
  expect(first).toMatchObject({ content: "First", draft: true, author: { type: "key" } });
  const second = await draft("Second");
  expect(await notes()).toEqual([second]);
  const told = (await events()).filter(({ type }: { type: string }) => type.startsWith("note."));
  expect(
    told.map(({ type, data }: { type: string; data: { note: Note } }) => [type, data.note.id, data.note.draft]),
  ).toEqual([
    ["note.created", first.id, true],
    ["note.deleted", first.id, true],
    ["note.created", second.id, true],
  ]);
  expect(JSON.stringify(told)).not.toMatch(/First|Second/);
  expectError(await agent("DELETE", `/chats/${id}/notes/${first.id}`), 404, "note_not_found");
});

test("each author has a draft of its own, and other notes stay", async () => {
  const { id, person, draft, notes } = await place();
  const mine = await draft("Of the person", person);
  const theirs = await draft("Of the agent");
  const note = created(await person("POST", `/chats/${id}/notes`, { content: "A note", draft: false })).note;
  expect(note).not.toHaveProperty("draft");
  expect(await notes()).toEqual([note, theirs, mine]);
});

test("a draft that two people send is sent once", async () => {
  const { draft, send, sent, notes, key } = await place();
  const { id } = await draft("Tomorrow");
  const other = await key(["messages:send", "notes:write"]);
  const answers = await Promise.all([
    send({ content: "Tomorrow", draftId: id }),
    send({ content: "Tomorrow, at noon", draftId: id }, other),
  ]);
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 404]);
  expectError(await send({ content: "Tomorrow", draftId: id }), 404, "note_not_found", /sent, changed or deleted/);
  expect(await sent()).toHaveLength(1);
  expect(await notes()).toEqual([]);
});

test("the message and the end of its draft are one commit, and a repeat gets the message", async () => {
  const { draft, send, sent, events } = await place();
  const { id } = await draft("Tomorrow");
  const body = { content: "Tomorrow", draftId: id };
  const first = await send(body, undefined, { "Idempotency-Key": "a" });
  const again = await send(body, undefined, { "Idempotency-Key": "a" });
  expect(again.body).toEqual(first.body);
  expect(again.headers.get("Idempotent-Replayed")).toBe("true");
  expectError(await send({ content: "Tomorrow" }, undefined, { "Idempotency-Key": "a" }), 422, "idempotency_mismatch");
  expect(await sent()).toEqual(["Tomorrow"]);
  expect((await events()).slice(-2)).toMatchObject([
    { type: "message.created", data: { messageId: first.body.message.id } },
    { type: "note.deleted", data: { note: { id, draft: true }, by: { type: "key" } } },
  ]);
});

test("a refused send leaves the draft", async () => {
  const { draft, send, notes, key } = await place();
  const note = await draft("Tomorrow");
  expectError(await send({ content: "Tomorrow", draftId: note.id, ifSeq: 7 }), 409, "chat_moved_on");
  const lacking = await key(["messages:send"]);
  expectError(await send({ content: "Hi", draftId: note.id }, lacking), 403, "permission_denied", /notes:write/);
  expect(await notes()).toEqual([note]);
});

test("a draft that was replaced, or is no draft, is not sent", async () => {
  const { id, person, draft, send, sent } = await place();
  const { id: first } = await draft("First");
  await draft("Second");
  expectError(await send({ content: "First", draftId: first }), 404, "note_not_found");
  const note = created(await person("POST", `/chats/${id}/notes`, { content: "A note" })).note;
  expectError(await send({ content: "A note", draftId: note.id }), 404, "note_not_found");
  expect(await sent()).toEqual([]);
});

test("a scheduled message takes its draft when it is accepted", async () => {
  const { draft, send, notes } = await place();
  const { id } = await draft("Tomorrow");
  const body = { content: "Tomorrow", draftId: id, scheduledAt: new Date(Date.now() + 3_600_000).toISOString() };
  expect(created(await send(body)).message.status).toBe("SCHEDULED");
  expect(await notes()).toEqual([]);
  expectError(await send(body), 404, "note_not_found");
});

test("everybody with notes:write drops a draft, and nobody else's note", async () => {
  const { id, api, person, draft, notes, key } = await place();
  const other = await key(["notes:write"]);
  const note = created(await person("POST", `/chats/${id}/notes`, { content: "A note" })).note;
  const { id: draftId } = await draft("Tomorrow");
  expectError(await other("DELETE", `/chats/${id}/notes/${note.id}`), 403, "permission_denied");
  expectError(await api("DELETE", `/chats/${id}/notes/${draftId}`), 403, "permission_denied");
  const dropped = await other("DELETE", `/chats/${id}/notes/${draftId}`);
  expect(dropped.body.note).toMatchObject({ id: draftId, content: "", draft: true, author: { name: "" } });
  expect(await notes()).toEqual([note]);
});

test("a repeated request with an idempotency key writes one draft", async () => {
  const { id, agent, notes } = await place();
  const write = (body: object) => agent("POST", `/chats/${id}/notes`, body, { "Idempotency-Key": "a" });
  const first = created(await write({ content: "Hi", draft: true })).note;
  expect((await write({ content: "Hi", draft: true })).body.note).toEqual(first);
  expectError(await write({ content: "Hi" }), 422, "idempotency_mismatch");
  expect(await notes()).toEqual([first]);
});

test("drafts have a limit of their own, and don't count as notes", async () => {
  const { id, organizationId, person, draft } = await place();
  const object = env.CHATS.getByName(id);
  const as = { organizationId, knownIdentity: null, isRepeat: false };
  const add = (n: number, isDraft: boolean) => {
    const author = { type: "key" as const, id: isDraft ? `key_${n}` : "key_0", name: "Agent" };
    const note = { id: `note_${isDraft}${n}`, content: "Hi", mentions: [], author, isDraft };
    return object.addNote(as, { ...note, idempotencyHash: null, fingerprint: null });
  };
  for (let n = 0; n < MAX_DRAFTS; n++) expect((await add(n, true)).outcome).toBe("stored");
  expect(await add(MAX_DRAFTS, true)).toMatchObject({
    outcome: "refused",
    code: "note_limit",
    text: expect.stringMatching(/100 drafts/),
  });
  for (let n = 0; n < MAX_NOTES; n++) expect((await add(n, false)).outcome).toBe("stored");
  expectError(await person("POST", `/chats/${id}/notes`, { content: "One more" }), 409, "note_limit");
  expectError(
    await person("POST", `/chats/${id}/notes`, { content: "One more", draft: true }),
    409,
    "note_limit",
    /100 drafts/,
  );
  expect((await add(7, true)).outcome).toBe("stored");
  await expect(draft("No room")).rejects.toThrow();
});

test("retention deletes a draft, and its author can write another one", async () => {
  const retained = await retainedPlace();
  const { organizationId, chatId } = retained;
  const { secret } = await newKey(organizationId, { permissions: ["notes:read", "notes:write"] });
  const path = `/chats/${chatId}/notes`;
  const agent = client(secret);
  created(await agent("POST", path, { content: "Old", draft: true }));
  await retained.passDays(20);
  await retained.sendSome("Hello");
  await retained.passDays(12);
  expect((await agent("GET", path)).body.notes).toEqual([]);
  // Else it would still count.
  const kept = runInDurableObject(env.CHATS.getByName(chatId), (_, { storage }) => storage.kv.get("drafts"));
  expect(await kept).toEqual({});
  const { note } = created(await agent("POST", path, { content: "New", draft: true }));
  expect((await agent("GET", path)).body.notes).toEqual([note]);
});
