import { expect, test } from "vitest";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { client, created, newChat, newKey, newOrganization, newTemplate, send } from "../../support/harness.ts";
import { once } from "../../support/once.ts";
import { report, writeAsContact } from "../chats/inbound.ts";
import { agent } from "./agent.ts";

const place = once(async () => {
  const { organizationId, channelId, ownerId } = await newOrganization();
  const { secret } = await newKey(organizationId, {
    permissions: [...PERMISSIONS],
    rateLimit: { limit: 900, windowSeconds: 60 },
  });
  const api = client(secret);
  return {
    ...agent(secret),
    ...{ api, organizationId, channelId, ownerId },
    newChat: () => newChat(api, channelId),
    key: async (permissions: string[], more: object = {}) =>
      agent((await newKey(organizationId, { permissions, ...more })).secret),
    messages: async (chatId: string) => (await api("GET", `/chats/${chatId}/messages`)).body.messages,
  };
});

/** What a fault says, for a program. */
const faultOf = ({ isError, structuredContent }: { isError?: boolean; structuredContent: object }) => {
  expect(isError).toBe(true);
  return structuredContent;
};

test("each tool needs the permissions of its route, and says what it does", async () => {
  const { ask, key } = await place();
  const { tools } = (await ask("tools/list")).body.result;
  expect(
    tools.map(({ name, annotations }: { name: string; annotations: Record<string, boolean> }) => [
      name,
      Object.keys(annotations).filter((hint) => annotations[hint]),
    ]),
  ).toEqual([
    ["list_chats", ["readOnlyHint"]],
    ["find_contact", ["readOnlyHint"]],
    ["get_chat", ["readOnlyHint"]],
    ["list_messages", ["readOnlyHint"]],
    ["search_messages", ["readOnlyHint"]],
    ["wait_for_messages", ["readOnlyHint"]],
    ["list_templates", ["readOnlyHint"]],
    ["send_message", ["destructiveHint", "idempotentHint"]],
    ["send_template", ["destructiveHint", "idempotentHint"]],
    ["assign_chat", ["idempotentHint"]],
    ["set_state", ["idempotentHint"]],
    ["write_note", []],
    ["hand_over", ["destructiveHint"]],
  ]);
  for (const { inputSchema } of tools) {
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(Object.keys(inputSchema.properties)).toEqual(expect.arrayContaining(inputSchema.required));
  }
  const shown: [string[], string[], object?][] = [
    [[], []],
    [["messages:read"], ["list_messages"]],
    [
      ["chats:read", "messages:read"],
      ["list_chats", "find_contact", "get_chat", "list_messages", "search_messages"],
    ],
    [["events:read"], ["wait_for_messages"]],
    [["templates:read"], ["list_templates"]],
    [["messages:send"], ["send_message", "send_template"]],
    [["chats:write"], ["assign_chat", "set_state", "hand_over"]],
    [["notes:write"], ["send_message", "write_note"]],
    [["messages:send"], [], { draftsOnly: true }],
    [["messages:send", "notes:write"], ["send_message", "write_note"], { draftsOnly: true }],
  ];
  for (const [permissions, names, more] of shown) expect(await (await key(permissions, more)).tools()).toEqual(names);
});

test("a permission that is missing, and draftsOnly, are faults of the tool", async () => {
  const { key, newChat, messages } = await place();
  const { id: chatId } = await newChat();
  const message = { chatId, content: "Hi", idempotencyKey: "a" };
  const reader = await key(["chats:read"]);
  for (const [name, given] of [
    ["list_messages", { chatId }],
    ["send_message", message],
    ["send_message", { ...message, draft: true }],
    ["wait_for_messages", { seconds: 0 }],
  ] as const) {
    expect(faultOf(await reader.use(name, given))).toMatchObject({ code: "permission_denied" });
  }
  const drafts = await key([...PERMISSIONS], { draftsOnly: true });
  const template = { chatId, templateId: "tpl_a", variables: {}, idempotencyKey: "a" };
  expect(faultOf(await drafts.use("send_message", message))).toMatchObject({ code: "drafts_only" });
  expect(faultOf(await drafts.use("send_template", template))).toMatchObject({ code: "drafts_only" });
  const { value } = await drafts.get("send_message", { ...message, draft: true });
  expect(value.note).toMatchObject({ content: "Hi", draft: true, chatId });
  expect(await messages(chatId)).toEqual([]);
});

test("chats are listed whose contact opted out", async () => {
  const { api, get, newChat } = await place();
  const [{ id }] = [await newChat(), await newChat()];
  await api("PATCH", `/chats/${id}`, { marketing: { optedOut: true } });
  await report(id);
  const { value } = await get("list_chats", { optedOut: true, state: "open" });
  expect(value.chats).toMatchObject([{ id }]);
});

test("arguments that are unknown, missing or wrong are named", async () => {
  const { use } = await place();
  const wrong: [string, object, object[]][] = [
    ["get_chat", {}, [{ path: "chatId", message: "is required" }]],
    ["get_chat", { chatId: "cht_a", toString: 1 }, [{ path: "toString", message: "is not an argument of this tool" }]],
    ["list_chats", { limit: "20" }, [{ path: "limit", message: "must be an integer from 1 to 100" }]],
    ["list_chats", { limit: 101 }, [{ path: "limit", message: "must be an integer from 1 to 100" }]],
    [
      "list_chats",
      { page: 1, search: ["a"] },
      [
        { path: "page", message: "is not an argument of this tool" },
        { path: "search", message: "must be a string" },
      ],
    ],
    ["wait_for_messages", { seconds: 31 }, [{ path: "seconds", message: "must be an integer from 0 to 30" }]],
    ["wait_for_messages", { seconds: 0, after: "?" }, [{ path: "after", message: "is not a cursor of this list" }]],
    ["list_chats", { state: "gone" }, [expect.objectContaining({ path: "state" })]],
    ["list_chats", { unanswered: false }, [expect.objectContaining({ path: "unanswered" })]],
    ["list_chats", { optedOut: false }, [{ path: "optedOut", message: "must be true" }]],
    ["list_chats", { optedOut: "true" }, [{ path: "optedOut", message: "must be true or false" }]],
    [
      "send_message",
      { chatId: "cht_a", content: "Hi", idempotencyKey: "é" },
      [expect.objectContaining({ path: "idempotencyKey" })],
    ],
    [
      "send_message",
      { chatId: "cht_a", content: "Hi", idempotencyKey: "a,b" },
      [expect.objectContaining({ path: "idempotencyKey" })],
    ],
    [
      "send_message",
      { chatId: "cht_a", content: "Hi", idempotencyKey: "a", draft: 1 },
      [{ path: "draft", message: "must be true or false" }],
    ],
    [
      "send_message",
      { chatId: "cht_a", content: "Hi", idempotencyKey: "a", draft: true, ifSeq: 1 },
      [expect.objectContaining({ path: "ifSeq" })],
    ],
    [
      "send_message",
      { chatId: "cht_a", content: "x".repeat(4_097), idempotencyKey: "a" },
      [expect.objectContaining({ path: "content" })],
    ],
    [
      "send_template",
      { chatId: "cht_a", templateId: "tpl_a", variables: [], idempotencyKey: "a" },
      [{ path: "variables", message: "must be an object" }],
    ],
    [
      "send_template",
      { chatId: "cht_a", templateId: "tpl_a", variables: { name: "Ann", order: 1e20 }, idempotencyKey: "a" },
      [{ path: "variables.order", message: "must be a string" }],
    ],
    ["set_state", { chatId: "cht_a", state: "snoozed" }, [expect.objectContaining({ path: "snoozedUntil" })]],
  ];
  for (const [name, given, errors] of wrong) {
    expect(faultOf(await use(name, given)), name).toMatchObject({ code: "validation_failed", errors });
  }
  const { content } = await use("get_chat", { chatId: "cht_a", "Ignore this": 1 });
  expect(content).toEqual([
    { type: "text", text: expect.stringMatching(/^validation_failed: .*\nIgnore this: is not an arg/) },
  ]);
});

test("an id is never a path", async () => {
  const { use } = await place();
  for (const chatId of ["", ".", "..", "a/b", "..%2f", "cht_a?x=1", "cht_a#", " ", "é"]) {
    for (const name of ["get_chat", "list_messages"]) {
      expect(faultOf(await use(name, { chatId })), chatId).toMatchObject({ code: "chat_not_found" });
    }
  }
});

test("a message is sent once, and only if its chat has not moved on", async () => {
  const { get, use, newChat, messages } = await place();
  const { id: chatId } = await newChat();
  const message = { chatId, content: "Hello", idempotencyKey: "1" };
  const sent = await get("send_message", message);
  expect(sent).toEqual({
    notice: null,
    value: { message: expect.objectContaining({ text: "Hello", seq: 1, chatId }) },
  });
  expect((await get("send_message", message)).value).toEqual(sent.value);
  const late = { chatId, content: "Late", idempotencyKey: "2", ifSeq: 0 };
  expect(faultOf(await use("send_message", late))).toMatchObject({ code: "chat_moved_on" });
  expect(await messages(chatId)).toEqual([sent.value.message]);
});

test("a template is sent with its variables, and names the one that is missing", async () => {
  const { get, use, newChat, organizationId, messages } = await place();
  const { id: chatId } = await newChat();
  const templateId = await newTemplate(organizationId, "Hi {{name}}");
  const filled = { chatId, templateId, variables: { name: "Ann" }, idempotencyKey: "1" };
  const { message } = (await get("send_template", filled)).value;
  expect(message).toMatchObject({ text: "Hi Ann", templateId });
  const lacking = { ...filled, variables: {}, idempotencyKey: "2" };
  expect(faultOf(await use("send_template", lacking))).toMatchObject({ errors: [{ path: "variables.name" }] });
  expect(await messages(chatId)).toEqual([message]);
});

test("the templates are listed", async () => {
  const { get, api, organizationId } = await place();
  const templateId = await newTemplate(organizationId, "Hi");
  const { templates } = (await get("list_templates")).value;
  expect(templates).toContainEqual(expect.objectContaining({ id: templateId }));
  expect(templates).toEqual((await api("GET", "/templates")).body.templates);
});

test("a chat is assigned, and assigned to nobody", async () => {
  const { get, newChat, ownerId } = await place();
  const { id: chatId } = await newChat();
  expect((await get("assign_chat", { chatId, assigneeId: ownerId })).value.chat.assigneeId).toBe(ownerId);
  expect((await get("assign_chat", { chatId, assigneeId: null })).value.chat.assigneeId).toBeNull();
});

test("a chat is closed, and is as its route shows it", async () => {
  const { get, api, newChat } = await place();
  const { id: chatId } = await newChat();
  expect((await get("set_state", { chatId, state: "closed", ifSeq: 0 })).value.chat.state).toBe("closed");
  const { value } = await get("get_chat", { chatId });
  expect(value).toEqual((await api("GET", `/chats/${chatId}`)).body);
  expect(value.chat.state).toBe("closed");
});

test("a note is written once", async () => {
  const { get, api, newChat } = await place();
  const { id: chatId } = await newChat();
  const note = { chatId, content: "Called", idempotencyKey: "1" };
  const noted = await get("write_note", note);
  expect(noted.value.note.content).toBe("Called");
  expect((await get("write_note", note)).value).toEqual(noted.value);
  expect((await api("GET", `/chats/${chatId}/notes`)).body.notes).toEqual([noted.value.note]);
});

test("a chat is handed over once, with a message and a note", async () => {
  const { get, api, newChat, messages } = await place();
  const { id: chatId } = await newChat();
  const act = { chatId, to: "people", message: "A colleague will answer", note: "Angry", idempotencyKey: "1" };
  const { value } = await get("hand_over", act);
  expect(value).toMatchObject({ chat: { handler: "people" }, message: { text: "A colleague will answer" } });
  expect((await get("hand_over", act)).value.message).toEqual(value.message);
  expect(await messages(chatId)).toEqual([value.message]);
  expect((await api("GET", `/chats/${chatId}/notes`)).body.notes).toMatchObject([{ content: "Angry" }]);
});

test("a chat without a bot can't be handed over to it", async () => {
  const { use, newChat } = await place();
  const { id: chatId } = await newChat();
  expect(faultOf(await use("hand_over", { chatId, to: "bot" }))).toMatchObject({ code: "no_bot" });
});

test("chats and messages are found by address, by state and by direction", async () => {
  const { get, api, newChat, organizationId } = await place();
  const [chat, other] = [await newChat(), await newChat()];
  const { id: chatId } = chat;
  await writeAsContact(organizationId, chatId, "Help");
  await send(api, chatId, { content: "Here is help" });
  await api("PATCH", `/chats/${chatId}`, { state: "closed" });
  await report(chatId);
  await report(other.id);
  const found = await get("find_contact", { address: chat.contact.address });
  expect(found.value.chats).toMatchObject([{ id: chatId, state: "closed" }]);
  const closed = (await get("list_chats", { state: "closed" })).value.chats.map(({ id }: { id: string }) => id);
  expect(closed).toContain(chatId);
  expect(closed).not.toContain(other.id);
  const list = await get("list_messages", { chatId, limit: 5, direction: "OUTBOUND" });
  expect(list.value.messages).toMatchObject([{ text: "Here is help" }]);
});

test("a draft replaces the one before, and is sent by a person", async () => {
  const { get, api, newChat, messages } = await place();
  const { id: chatId } = await newChat();
  const draft = (content: string, idempotencyKey: string) =>
    get("send_message", { chatId, content, idempotencyKey, draft: true });
  await draft("First", "1");
  const { note } = (await draft("Second", "2")).value;
  expect((await draft("Second", "2")).value.note).toEqual(note);
  expect((await api("GET", `/chats/${chatId}/notes`)).body.notes).toEqual([note]);
  created(await api("POST", `/chats/${chatId}/messages`, { content: "Second!", draftId: note.id }));
  expect(await messages(chatId)).toMatchObject([{ text: "Second!" }]);
  expect((await api("GET", `/chats/${chatId}/notes`)).body.notes).toEqual([]);
});

test("a wait returns what contacts write, only of its chat, and goes on at its cursor", async () => {
  const { get, api, organizationId, newChat } = await place();
  const [chat, other] = [await newChat(), await newChat()];
  const begun = await get("wait_for_messages", { chatId: chat.id, seconds: 0 });
  expect(begun.value).toMatchObject({ messages: [], hasMore: false });
  const { cursor } = begun.value;
  await send(api, chat.id, { content: "From us" });
  await writeAsContact(organizationId, other.id, "Elsewhere");
  const theirs = await writeAsContact(organizationId, chat.id, "Help");
  await report(other.id);
  await report(chat.id);
  const { value, notice } = await get("wait_for_messages", { chatId: chat.id, seconds: 20, after: cursor });
  expect(value.messages).toMatchObject([{ id: theirs.id, chatId: chat.id }]);
  expect(value.messages[0].text).toMatch(/^<contact-words-\w{16}>Help<\//);
  expect(notice).toContain("not an instruction");
  const after = await get("wait_for_messages", { chatId: chat.id, seconds: 0, after: value.cursor });
  expect(after.value.messages).toEqual([]);
  const all = await get("wait_for_messages", { seconds: 0, after: cursor });
  expect(all.value.messages.map(({ chatId }: { chatId: string }) => chatId).toSorted()).toEqual(
    [chat.id, other.id].toSorted(),
  );
});

test("a wait for a chat of another organization finds none", async () => {
  const { use } = await place();
  const { api, channelId } = await newOrganization();
  const { id: chatId } = await newChat(api, channelId);
  expect(faultOf(await use("wait_for_messages", { chatId, seconds: 0 }))).toMatchObject({ code: "chat_not_found" });
});
