import { expect, test } from "vitest";
import type { Permission } from "../../../src/model/permission.ts";
import { browser, signInMember } from "../../support/console.ts";
import {
  admin,
  type Client,
  client,
  created,
  expectError,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { writeAsContact } from "./inbound.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

type Organization = Awaited<ReturnType<typeof newOrganization>>;

/** How a program and a person ask, with these permissions alone. */
const CALLERS: Record<string, (of: Organization, permissions: Permission[]) => Promise<Client>> = {
  "a key": async ({ organizationId }, permissions) => client((await newKey(organizationId, { permissions })).secret),
  "a member's session": async ({ organizationId }, permissions) => {
    const made = await admin("POST", `/organizations/${organizationId}/members`, { name: "Mel", permissions });
    const ask = browser(await signInMember(created(made).member.id));
    return (method, path, body, headers = {}) =>
      ask(method, `/organizations/${organizationId}${path}`, body, { headers });
  },
};

const IN_AN_HOUR = () => new Date(Date.now() + 3_600_000).toISOString();

/** A chat with a name, metadata and messages of both sides, and a client that may do everything with it. */
async function fullChat() {
  const organization = await newOrganization();
  const all = await CALLERS["a key"]?.(organization, [
    ...(["chats:read", "chats:write", "messages:read", "messages:send", "notes:read", "notes:write"] as const),
  ]);
  if (!all) throw new Error("There is no client");
  const contact = { address: "maya", name: "Maya" };
  const asked = { channelId: organization.channelId, contact, metadata: { order: "4711" } };
  const { chat } = created(await all("POST", "/chats", asked));
  const theirs = await writeAsContact(organization.organizationId, chat.id, "What they said");
  return { ...organization, all, asked, chat, theirs, path: `/chats/${chat.id}` };
}

/** What is left of a chat. */
const blankContact = { address: "", name: null, username: null, personId: null, addresses: [] };
const blankChat = { contact: blankContact, metadata: {}, lastMessage: null };
const blank = { content: "", text: "", mediaUrl: null, variables: null, metadata: {} };

test.each(Object.entries(CALLERS))("%s without chats:read changes a chat, and is not shown it", async (_, callerOf) => {
  const place = await fullChat();
  const { path, asked, chat, channelId, ownerId } = place;
  const writer = await callerOf(place, ["chats:write"]);
  const channel = { id: channelId, kind: "web", name: "" };
  const { lastMessageAt, unansweredSince } = (await place.all("GET", path)).body.chat;
  const shown = { ...chat, ...blankChat, channel, lastMessageAt, unansweredSince };
  expect((await writer("PATCH", path, {})).body).toEqual({ chat: shown });
  const change = { assigneeId: ownerId, metadata: { more: "1" } };
  expect((await writer("PATCH", path, change)).body).toEqual({ chat: { ...shown, assigneeId: ownerId } });
  expect((await writer("POST", "/chats", asked)).body).toEqual({ chat: { ...shown, assigneeId: ownerId } });
  const answered = { ...shown, assigneeId: ownerId, unansweredSince: null };
  expect((await writer("POST", `${path}/answered`)).body).toEqual({ chat: answered });
  // What the caller has just written itself is shown.
  const made = await writer("POST", "/chats", { ...asked, contact: { address: "noa", name: "Noa" } });
  expect(created(made).chat).toMatchObject({
    channel,
    contact: { address: "noa", name: "Noa" },
    metadata: asked.metadata,
  });
});

test.each(Object.entries(CALLERS))(
  "%s without messages:read changes messages, and is not shown them",
  async (_, callerOf) => {
    const place = await fullChat();
    const { path, all, theirs } = place;
    const sender = await callerOf(place, ["messages:send"]);
    const scheduledAt = IN_AN_HOUR();
    const planned = await send(all, place.chat.id, { content: "Planned", metadata: { a: "b" }, scheduledAt });
    const shown = { ...planned, ...blank };
    expect((await sender("PATCH", `${path}/messages/${planned.id}`, {})).body).toEqual({ message: shown });
    const canceled = (await sender("POST", `${path}/messages/${planned.id}/cancel`)).body.message;
    expect(canceled).toEqual({ ...shown, status: "CANCELED", updatedAt: canceled.updatedAt });
    const { reactions, ...reacted } = (await all("PUT", `${path}/messages/${theirs.id}/reaction`, { emoji: "👍" })).body
      .message;
    expect(reactions).toHaveLength(1);
    const again = await sender("PUT", `${path}/messages/${theirs.id}/reaction`, { emoji: "👍" });
    expect(again.body).toEqual({ message: { ...reacted, ...blank } });
    // What the caller has just written itself is shown.
    const body = { content: "Mine", metadata: { a: "b" } };
    expect(created(await sender("POST", `${path}/messages`, body)).message).toMatchObject(body);
  },
);

test("a repeated send shows what the request says, to another key too, and nothing of what came later", async () => {
  const place = await fullChat();
  const { path, all } = place;
  const sender = await (CALLERS["a key"] as (typeof CALLERS)[string])(place, ["messages:send"]);
  const key = { "Idempotency-Key": "order-4711" };
  const body = { content: "Yours", metadata: { a: "b" } };
  const { message } = created(await all("POST", `${path}/messages`, body, key));
  await all("PUT", `${path}/messages/${message.id}/reaction`, { emoji: "👍" });
  const replayed = await sender("POST", `${path}/messages`, body, key);
  expect(replayed.headers.get("Idempotent-Replayed")).toBe("true");
  const { reactions, ...now } = (await all("GET", `${path}/messages/${message.id}`)).body.message;
  expect(reactions).toHaveLength(1);
  expect(created(replayed)).toEqual({ message: now });
  expect((await sender("POST", `${path}/messages`, { content: "Other" }, key)).status).toBe(422);
});

test.each(Object.entries(CALLERS))("%s without notes:read is shown its own notes alone", async (_, callerOf) => {
  const place = await fullChat();
  const { path, all } = place;
  const writer = await callerOf(place, ["notes:write"]);
  const eraser = await callerOf(place, ["chats:erase"]);
  const key = { "Idempotency-Key": "note-1" };
  const mine = created(await writer("POST", `${path}/notes`, { content: "Mine" }, key)).note;
  expect(mine).toMatchObject({ content: "Mine", author: { name: expect.stringMatching(/./) } });
  expect(created(await writer("POST", `${path}/notes`, { content: "Mine" }, key)).note).toEqual(mine);
  const { note } = created(await all("POST", `${path}/notes`, { content: "Theirs" }, { "Idempotency-Key": "note-2" }));
  const repeated = created(
    await writer("POST", `${path}/notes`, { content: "Theirs" }, { "Idempotency-Key": "note-2" }),
  );
  expect(repeated.note).toEqual({ ...note, author: { ...note.author, name: "" } });
  const deleted = (await eraser("DELETE", `${path}/notes/${note.id}`)).body.note;
  expect(deleted).toEqual({ ...repeated.note, content: "", deletedAt: deleted.deletedAt });
});

test("who deletes a chat or redacts a message without reading is not shown it", async () => {
  const place = await fullChat();
  const eraser = await (CALLERS["a key"] as (typeof CALLERS)[string])(place, ["chats:erase"]);
  const message = await send(place.all, place.chat.id, { content: "Ours", senderId: place.ownerId });
  const redacted = (await eraser("POST", `${place.path}/messages/${message.id}/redact`)).body.message;
  expect(redacted).toMatchObject({ id: message.id, seq: message.seq, ...blank });
  expect(redacted).not.toHaveProperty("sender");
  expect((await eraser("DELETE", place.path)).body.chat).toMatchObject({ id: place.chat.id, ...blankChat });
  expectError(await eraser("DELETE", place.path), 404, "chat_not_found");
  expectError(await eraser("DELETE", "/chats/none"), 404, "chat_not_found");
});
