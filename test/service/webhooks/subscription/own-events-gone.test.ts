import { expect, test } from "vitest";
import { eventId } from "../../../../src/model/event.ts";
import { admin, created, expectError, newChat } from "../../../support/harness.ts";
import { pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { report } from "../../events/fixtures.ts";
import { fakeReceiver, type Received } from "../receiver.ts";
import {
  attempted,
  deleteChat,
  numberOf,
  objectOf,
  ownEvents,
  ring,
  SECOND,
  subscriptionOf,
  toldOrganization,
} from "./own-event-fixtures.ts";

stopTheClock();

const DAY = 86_400_000;

test("an event of an earlier feed of the organization is not found, and no other is sent in its place", async () => {
  const calls = fakeReceiver();
  const { organizationId, webhookId } = await toldOrganization();
  const request = { eventId: eventId(organizationId, "00000000", 1) };
  expectError(await admin("POST", `/webhooks/${webhookId}/replays`, request), 404, "event_not_found");
  expect(calls).toHaveLength(1);
});

test("no number is used again after the events of 30 days are gone", async () => {
  const calls = fakeReceiver();
  const { organization, organizationId, webhookId } = await toldOrganization();
  for (const count of [2, 3]) {
    pass(32 * DAY);
    const { id } = await newChat(organization.api, organization.channelId);
    await report(id);
    // Drops the oldest table.
    await ring(organizationId);
    expect((await ownEvents(organizationId)).map(({ number }) => number)).toEqual([count - 1]);
    await deleteChat(organization);
    await attempted(organizationId, webhookId, count);
  }
  expect(calls.map(numberOf)).toEqual([1, 2, 3]);
});

test("an organization that was erased sends nothing", async () => {
  let isErased = false;
  const late: Received[] = [];
  const calls = fakeReceiver((call) => {
    if (isErased) late.push(call);
    return new Response(null, { status: 500 });
  });
  const { organizationId, api, channelId, webhookId } = await toldOrganization();
  const remaining = created(await api("POST", "/chats", { channelId, contact: { address: "remaining" } })).chat;
  isErased = true;
  expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
  pass(60 * SECOND);
  await ring(organizationId);
  await objectOf(organizationId).wakeWebhook(webhookId, 1_000, 0, organizationId);
  expect(await objectOf(organizationId).replayEvents(webhookId, "rpl_1", [[1, 9]], organizationId)).toBe(0);
  await objectOf(organizationId).webhookEvent(organizationId, "webhook.failing", {}, "late");
  expect(late).toEqual([]);
  expect(calls.every(({ event }) => event.chatId !== remaining.id)).toBe(true);
  expect(await subscriptionOf(organizationId, webhookId)).toBeUndefined();
});
