import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../../support/alarms.ts";
import { breakObjects } from "../../../support/faults.ts";
import { admin, expectError, newChat, newOrganization, send } from "../../../support/harness.ts";
import { TOMORROW } from "../../../support/tomorrow.ts";

/** The last message that the organization's object has of its only chat. */
function lastMessageOf(organizationId: string): Promise<string | null> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) =>
    storage.sql.exec<{ last_message: string | null }>("select last_message from chats").one(),
  ).then(({ last_message }) => last_message);
}

/** A chat whose newest message says "canary", as its organization knows. */
async function knownCanary() {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const message = await send(api, chat.id, { content: "canary" });
  await runAlarm(env.CHATS.getByName(chat.id));
  expect(await lastMessageOf(organizationId)).toContain("canary");
  const redact = () => admin("POST", `/chats/${chat.id}/messages/${message.id}/redact`);
  return { api, chat, redact };
}

test("a message whose text the list of chats no longer shows is redacted even in an outage", async () => {
  const { api, chat, redact } = await knownCanary();
  await send(api, chat.id, { content: "later" });
  await runAlarm(env.CHATS.getByName(chat.id));
  breakObjects("ORGANIZATIONS", "report");
  expect((await redact()).status).toBe(200);
});

test("while an organization's object does not answer, sends and reads go on, and lists and new contacts are a 503", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await send(api, chat.id);
  vi.spyOn(env.ORGANIZATIONS, "getByName").mockImplementation(() => {
    throw Object.assign(new Error("Network connection lost."), { retryable: true });
  });
  expect((await send(api, chat.id)).seq).toBe(2);
  expect((await api("GET", `/chats/${chat.id}/messages`)).body.pagination.total).toBe(2);
  const asked = { channelId, contact: { address: "new" } };
  for (const answer of [
    await api("GET", "/chats"),
    await api("POST", "/chats", asked),
    await api("GET", `/chats/${chat.id}`),
    await admin("GET", `/stats?organization=${organizationId}`),
    await admin("DELETE", `/chats/${chat.id}`),
  ]) {
    expectError(answer, 503, "unavailable");
    expect(answer.headers.get("Retry-After")).not.toBeNull();
  }
  vi.restoreAllMocks();
  expect((await api("GET", "/chats")).body.pagination.total).toBe(1);
});

test("a deletion that was interrupted is completed by the object's alarm, and the address gets a new chat", async () => {
  // The alarm rings only when the test lets it.
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId, "anna");
  await send(api, chat.id, { content: "canary" });
  breakObjects("CHATS", "erase");
  expectError(await admin("DELETE", `/chats/${chat.id}`), 503, "unavailable");
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  await runAlarm(organization);
  vi.restoreAllMocks();
  const asked = { channelId, contact: { address: "anna" } };
  expectError(await api("POST", "/chats", asked), 503, "unavailable");
  vi.setSystemTime(Date.now() + 120_000);
  await runAlarm(organization);
  expect((await api("POST", "/chats", asked)).status).toBe(201);
  expect((await api("GET", `/chats/${chat.id}/messages`)).body.messages).toEqual([]);
});
