import { expect, test } from "vitest";
import { breakDirectory, countRoundTrips, OUTAGES } from "../../support/faults.ts";
import { admin, created, expectError, newChat, newOrganization, newTemplate, send } from "../../support/harness.ts";
import { withOtherEnd } from "../../support/other-end.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

/** A chat, a template that was used once, and sends that name it and a sender. */
async function usedTemplate() {
  const { api, channelId, organizationId, ownerId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const templateId = await newTemplate(organizationId, "Hi {{name}}");
  const body = { senderId: ownerId, templateId, variables: { name: "Ada" } };
  const post = () => api("POST", `/chats/${chat.id}/messages`, { content: "Hi", ...body });
  expect(created(await post()).message.text).toBe("Hi Ada");
  return { api, chat, organizationId, ownerId, templateId, body, post };
}

test("a send with a sender and a template that were used in the last 10 seconds reads no D1", async () => {
  const { post } = await usedTemplate();
  const roundTrips = countRoundTrips();
  pass(9_999);
  expect((await post()).status).toBe(201);
  expect(roundTrips()).toBe(0);
  pass(1);
  expect((await post()).status).toBe(201);
  expect(roundTrips()).toBe(1);
});

test("a changed template counts after 10 seconds, and so does a deleted one", async () => {
  const { post, templateId } = await usedTemplate();
  await admin("PATCH", `/templates/${templateId}`, { body: "Hello {{name}}" });
  pass(10_000);
  expect((await post()).body.message.text).toBe("Hello Ada");
  await admin("DELETE", `/templates/${templateId}`);
  pass(10_000);
  expectError(await post(), 404, "template_not_found");
  expectError(await post(), 404, "template_not_found");
});

test("a removed member can send for 10 seconds at most", async () => {
  const { api, chat, organizationId, post } = await usedTemplate();
  const { member } = (await admin("POST", `/organizations/${organizationId}/members`, { name: "Bob" })).body;
  await send(api, chat.id, { senderId: member.id });
  await admin("DELETE", `/members/${member.id}`);
  pass(10_000);
  const answer = await api("POST", `/chats/${chat.id}/messages`, { content: "Hi", senderId: member.id });
  expectError(answer, 404, "sender_not_found");
  expect((await post()).status).toBe(201);
});

test("another organization's key can't use what is held", async () => {
  const { body } = await usedTemplate();
  const other = await newOrganization();
  const chat = await newChat(other.api, other.channelId);
  const post = (named: object) => other.api("POST", `/chats/${chat.id}/messages`, { content: "Hi", ...named });
  expectError(await post({ senderId: body.senderId }), 404, "sender_not_found");
  expectError(await post({ templateId: body.templateId, variables: body.variables }), 404, "template_not_found");
});

test("an isolate holds 160 templates, and reads another one in place of the first", async () => {
  const { organizationId, post, api, chat } = await usedTemplate();
  for (let count = 0; count < 160; count++) {
    await send(api, chat.id, { templateId: await newTemplate(organizationId, "Hi") });
  }
  const roundTrips = countRoundTrips();
  expect((await post()).status).toBe(201);
  expect(roundTrips()).toBe(1);
});

test.each(OUTAGES)("while D1 is down (%s error), templates are filled for an hour", async (outage) => {
  const { api, chat, post, ownerId } = await usedTemplate();
  // The key's record must be younger than an hour too.
  pass(1_800_000);
  await send(api, chat.id);
  breakDirectory(outage);
  pass(1_799_000);
  expect((await post()).body.message.text).toBe("Hi Ada");
  pass(1_000);
  expectError(await post(), 503, "unavailable");
  const unknown = { content: "Hi", senderId: withOtherEnd(ownerId) };
  expectError(await api("POST", `/chats/${chat.id}/messages`, unknown), 503, "unavailable");
});
