import { expect, test } from "vitest";
import { newChat, newOrganization } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { fakeReceiver } from "./receiver.ts";

const earlier = { organizationId: "", contact: "4711-earlier" };

const callWebhook = (organizationId: string) =>
  fetch("https://customer.test/hook", { method: "POST", body: JSON.stringify({ organizationId }) });
const callTelegram = (contact: string) =>
  fetch("https://api.telegram.org/bot1:a/sendMessage", { method: "POST", body: JSON.stringify({ chat_id: contact }) });

test("a test makes an organization and a contact", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  await newChat(api, channelId, earlier.contact);
  earlier.organizationId = organizationId;
  const calls = fakeReceiver();
  await callWebhook(organizationId);
  expect(calls).toHaveLength(1);
});

test("the fakes of the next test answer what comes late of the one before, and don't count it", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  await newChat(api, channelId, "4711-own");
  const events = fakeReceiver();
  expect((await callWebhook(earlier.organizationId)).status).toBe(200);
  await callWebhook(organizationId);
  expect(events.map(({ event }) => event.organizationId)).toEqual([organizationId]);
  const messages = fakeNetworks();
  expect((await callTelegram(earlier.contact)).status).toBe(200);
  await callTelegram("4711-own");
  expect(messages.map(({ to }) => to)).toEqual(["4711-own"]);
});
