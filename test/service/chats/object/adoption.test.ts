import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Chat } from "../../../../src/model/chat.ts";
import { newId } from "../../../../src/model/id.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { asOwner } from "../../../support/as-owner.ts";
import { identity } from "../../../support/drafts.ts";
import { breakDirectory, breakObjects, countHops, OUTAGES } from "../../../support/faults.ts";
import { admin, expectError, newChat, newOrganization, send } from "../../../support/harness.ts";
import { heldBy, NOTHING, storedChat } from "../../../support/stored.ts";
import { TOMORROW } from "../../../support/tomorrow.ts";
import { alarmOf } from "./delivery/conversation.ts";

test("50 guessed chat ids get a 404, and their objects store nothing", async () => {
  const { api } = await newOrganization();
  const ids = Array.from({ length: 50 }, () => newId("cht", null));
  const answers = await Promise.all(
    ids.flatMap((id) => [
      api("GET", `/chats/${id}`),
      api("GET", `/chats/${id}/messages`),
      api("POST", `/chats/${id}/messages`, { content: "Hello" }),
    ]),
  );
  for (const answer of answers) expectError(answer, 404, "chat_not_found", /^Chat not found$/);
  for (const id of ids) expect(await heldBy(env.CHATS.getByName(id))).toEqual(NOTHING);
});

test.each([
  "",
  "cht_",
  "cht_g",
  "cht_gaaaaaaaaaaaaaa",
  "cht_gaaaaaaaaaaaaaaaa",
  "cht_xaaaaaaaaaaaaaaa",
  "org_gaaaaaaaaaaaaaaa",
  "cht_gaaaaaaa%20aaaaaaa",
])("a malformed chat id (%j) wakes no object", async (id) => {
  const { api } = await newOrganization();
  const objects = vi.spyOn(env.CHATS, "getByName");
  expect((await api("GET", `/chats/${id}/messages`)).status).toBe(404);
  expect(objects).not.toHaveBeenCalled();
});

test("a new chat stores its identity and reports within 2 s, and its channel stores nothing", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const { values, tables, alarm } = await heldBy(env.CHATS.getByName(chat.id));
  expect(new Map(values as [string, unknown][]).get("lean")).toMatchObject({
    chatId: chat.id,
    organizationId,
    channelId,
    channelKind: "web",
    contactAddress: chat.contact.address,
  });
  expect(tables).toEqual([]);
  expect(alarm).toBe(Date.now() + 2_000);
  expect(await heldBy(env.CHANNELS.getByName(channelId))).toEqual(NOTHING);
});

test("creating an organization, a channel and a key wakes no object but the organization's, for its audit log", async () => {
  const hops = countHops();
  await newOrganization();
  expect(Object.keys(hops())).toEqual(["ORGANIZATIONS", "DB"]);
});

/** Creates a chat as if the caller was interrupted before the chat's object adopted it. */
async function interruptedChat() {
  const owner = await newOrganization();
  breakObjects("CHATS", "adopt");
  const body = { channelId: owner.channelId, contact: { address: "someone" } };
  expectError(await owner.api("POST", "/chats", body), 503, "unavailable");
  vi.restoreAllMocks();
  const [chat] = (await owner.api("GET", "/chats")).body.chats as [Chat];
  const object = env.CHATS.getByName(chat.id);
  expect(await heldBy(object)).toEqual(NOTHING);
  const state = async () => (await storedChat(owner.organizationId, chat.id))?.state;
  return { ...owner, body, chat, object, state };
}

test("a chat whose creation was interrupted is the same chat if the request is repeated, and adopts itself on first use", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { api, body, chat, object, state } = await interruptedChat();
  const again = await api("POST", "/chats", body);
  expect([again.status, again.body.chat]).toEqual([200, chat]);
  expect(await state()).toBe("created");
  expect((await send(api, chat.id)).seq).toBe(1);
  await runAlarm(object);
  expect(await state()).toBe("adopted");
});

test("after a minute the organization's object adopts a chat whose creation was interrupted", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { organizationId, chat, object, state } = await interruptedChat();
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  expect(await alarmOf(organization)).toBe(Date.now() + 60_000);
  // The operator's routes find a chat by its object alone.
  expectError(await admin("GET", `/chats/${chat.id}`), 404, "chat_not_found");
  vi.setSystemTime(Date.now() + 60_000);
  await runAlarm(organization);
  expect(await state()).toBe("adopted");
  expect(await object.owner()).toEqual({ organizationId });
  expect(await alarmOf(organization)).toBeNull();
  expect((await heldBy(object)).values).toContainEqual(["lean", expect.objectContaining({ chatId: chat.id })]);
  expect((await admin("GET", `/chats/${chat.id}`)).body.chat.id).toBe(chat.id);
});

test("a chat that is not adopted is a 404 for another organization, whose request does not adopt it", async () => {
  const { api, chat, object } = await interruptedChat();
  const stranger = await newOrganization();
  expectError(await stranger.api("GET", `/chats/${chat.id}/messages`), 404, "chat_not_found");
  expectError(await stranger.api("POST", `/chats/${chat.id}/messages`, { content: "Mine" }), 404, "chat_not_found");
  expect(await heldBy(object)).toEqual(NOTHING);
  expect((await send(api, chat.id)).seq).toBe(1);
});

test("an identity of another organization than the caller's is not adopted", async () => {
  const { organizationId, channelId } = await newOrganization();
  const chatId = newId("cht", null);
  const object = env.CHATS.getByName(chatId);
  const adoption = identity({ chatId, organizationId, channelId });
  expect(await object.state(asOwner("org_gaaaaaaaaaaaaaaa", adoption))).toEqual({ outcome: "unknown" });
  expect(await heldBy(object)).toEqual(NOTHING);
});

test("an adopted chat works while its organization's object does not answer, and one that is not adopted is a 503", async () => {
  const { api, channelId, chat } = await interruptedChat();
  const adopted = await newChat(api, channelId);
  breakObjects("ORGANIZATIONS", "identity");
  expect((await send(api, adopted.id)).seq).toBe(1);
  expect((await api("GET", `/chats/${adopted.id}/messages`)).status).toBe(200);
  expectError(await api("POST", `/chats/${chat.id}/messages`, { content: "Hello" }), 503, "unavailable");
  expectError(await api("GET", `/chats/${newId("cht", null)}/messages`), 503, "unavailable");
});

test("while the organization's object does not answer, creating and listing chats is a 503", async () => {
  const { api, channelId } = await newOrganization();
  const body = { channelId, contact: { address: "someone" } };
  for (const method of ["open", "list"]) breakObjects("ORGANIZATIONS", method);
  expectError(await api("POST", "/chats", body), 503, "unavailable");
  expectError(await api("GET", "/chats"), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await api("GET", "/chats")).body.chats).toEqual([]);
  expect((await api("POST", "/chats", body)).status).toBe(201);
});

test.each(OUTAGES)(
  "while D1 is down, chats are created and listed in a channel that has chats (%s error)",
  async (outage) => {
    const { api, channelId } = await newOrganization();
    const chat = await newChat(api, channelId);
    breakDirectory(outage);
    const another = await newChat(api, channelId);
    const listed = (await api("GET", "/chats")).body.chats as Chat[];
    expect(listed.map(({ id }) => id).sort()).toEqual([chat.id, another.id].sort());
  },
);
