import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { workIsDone } from "../../support/alarms.ts";
import {
  admin,
  client,
  created,
  expectError,
  newChannel,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { untilStatus } from "../../support/message-status.ts";
import { acceptAs, fakeNetworks, hanging, inTurn, refuse } from "../../support/networks.ts";
import { storedBy } from "../../support/stored.ts";
import { untilLength } from "../../support/until.ts";
import { linesOf } from "../export/fixtures.ts";
import { chatWithWebhook, fakeReceiver } from "../webhooks/receiver.ts";
import { report } from "./inbound.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { inFuture, MINUTE } from "./object/delivery/queued.ts";
import { retainedPlace } from "./object/retention/fixtures.ts";
import { DAY, scheduledPlace } from "./object/scheduled/fixtures.ts";

stopTheClock();

const CANARY = "unspeakable";
const choices = [
  { type: "reply", id: `${CANARY}-1`, title: "Today", description: CANARY, section: CANARY },
  { type: "reply", id: `${CANARY}-2`, title: "Tomorrow" },
];
const SAID: [string, Record<string, unknown>][] = [
  ["interactive", { interactive: { choices, header: CANARY, footer: CANARY, menuTitle: CANARY } }],
  ["location", { location: { latitude: 52.52, longitude: 13.405, name: CANARY, address: CANARY } }],
  ["contacts", { contacts: [{ name: CANARY, phones: ["+1 555 078 3881"] }] }],
];

/** A message's fields as they were given. The service adds only the rendering. */
const given = ({ interactive, location, contacts, replyTo }: Message) => {
  const { rendering: _, ...shown } = interactive ?? {};
  return {
    ...(interactive && { interactive: shown }),
    ...(location && { location }),
    ...(contacts && { contacts }),
    ...(replyTo !== undefined && { replyTo }),
  };
};

test.each([
  ["whatsapp", "list"],
  ["telegram", "buttons"],
  ["web", "list"],
] as const)(
  "a chat of the kind %s shows what a message says wherever it shows the message",
  async (kind, rendering) => {
    const { api, organizationId, channelId: web } = await newOrganization();
    const exporter = await newKey(organizationId, { permissions: ["data:export"] });
    const { id: chatId } = await newChat(
      api,
      kind === "web" ? web : await newChannel(organizationId, kind),
      "4915112345",
    );
    const plain = await send(api, chatId);
    const sent = [plain];
    for (const [, fields] of SAID) {
      const body = { ...fields, replyTo: plain.id };
      const message = await send(api, chatId, body);
      expect(given(message)).toEqual(body);
      sent.push(message);
    }
    expect(sent[1]?.interactive?.rendering).toBe(rendering);
    const path = `/chats/${chatId}/messages`;
    const listed: Message[] = (await api("GET", path)).body.messages.toReversed();
    expect(listed).toEqual(sent);
    expect(Object.keys(plain)).toEqual(Object.keys(listed[0] as Message));
    for (const field of ["interactive", "location", "contacts", "replyTo"]) expect(plain).not.toHaveProperty(field);
    for (const { id } of sent) {
      expect((await api("GET", `${path}/${id}`)).body.message).toEqual(listed.find((each) => each.id === id));
    }
    const lines = await linesOf(exporter.secret, `/chats/${chatId}/export`);
    expect(lines.flatMap(({ message }) => message ?? [])).toEqual(sent);
  },
);

test("a search finds the text of a message with choices, and the filters know its type", async () => {
  const { post, api, chatId } = await scheduledPlace();
  const { id } = created(await post({ content: "When may we come?", ...SAID[0]?.[1] })).message;
  const media = { type: "IMAGE", mediaUrl: "https://files.example/a.jpg", interactive: { choices } };
  const { id: picture } = created(await post({ content: "This one?", ...media })).message;
  const found = async (query: string) =>
    (await api("GET", `/chats/${chatId}/messages?${query}`)).body.messages.map((each: Message) => each.id);
  expect(await found("search=may%20we")).toEqual([id]);
  expect(await found(`search=${CANARY}`)).toEqual([]);
  expect(await found("type=TEXT")).toEqual([id]);
  expect(await found("type=IMAGE&direction=OUTBOUND")).toEqual([picture]);
  await report(chatId);
  expect((await api("GET", "/chats")).body.chats[0].lastMessage.text).toBe("This one?");
});

test("a used key returns the first message whatever the order of what it says, and refuses another choice", async () => {
  const { post } = await scheduledPlace();
  const headers = { "Idempotency-Key": "order-7" };
  const quoted = created(await post()).message;
  const first = await post({ interactive: { choices: choices.slice(0, 1), footer: "F" }, replyTo: quoted.id }, headers);
  expect(first.status).toBe(201);
  const [choice] = choices;
  const reversed = Object.fromEntries(Object.entries(choice as object).toReversed());
  const nulls = { location: null, contacts: null };
  const same = { replyTo: quoted.id, ...nulls, interactive: { header: null, footer: "F", x: 1, choices: [reversed] } };
  const again = await post(same, headers);
  const warned = JSON.stringify({ ...first.body, warnings: ["interactive.x is not a field"] });
  expect([again.text, again.headers.get("Idempotent-Replayed")]).toEqual([warned, "true"]);
  for (const other of [
    {},
    { replyTo: quoted.id },
    { interactive: same.interactive },
    { ...same, interactive: { ...same.interactive, footer: "G" } },
    { ...same, interactive: { ...same.interactive, choices: [{ ...choice, title: "Now" }] } },
  ]) {
    expectError(await post(other, headers), 422, "idempotency_mismatch");
  }
});

test("a scheduled message keeps the rendering it was accepted with, and its quote is looked up when it is sent", async () => {
  const place = await scheduledPlace("whatsapp");
  const calls = fakeNetworks(inTurn(acceptAs("wamid.quoted")));
  const { id: replyTo } = created(await place.post({ content: "First" })).message;
  const body = { interactive: { choices: choices.slice(0, 1) }, replyTo };
  const scheduled = await place.schedule(DAY, body);
  expect(scheduled.interactive).toMatchObject({ rendering: "list" });
  expect(await place.waiting()).toEqual([scheduled]);
  const moved = await place.patch(scheduled.id, { scheduledAt: inFuture(2 * DAY) });
  expect(given(moved.body.message)).toEqual(body);
  await place.ringIn(MINUTE);
  expect(calls).toHaveLength(1);
  await place.ringIn(2 * DAY);
  await untilLength(calls, 2);
  expect(calls[1]?.body).toMatchObject({ context: { message_id: "wamid.quoted" }, interactive: { type: "list" } });
  await untilStatus(place.chatId, scheduled.id, "SENT");
  const shown = (await place.message(scheduled.id)) as Message;
  expect({ ...given(shown), rendering: shown.interactive?.rendering }).toEqual({ ...body, rendering: "list" });
});

test("a scheduled reply whose quoted message failed meanwhile is sent without the quote", async () => {
  const place = await scheduledPlace("whatsapp");
  const network = hanging(refuse(131026));
  const calls = fakeNetworks(network.script);
  const { id: replyTo } = created(await place.post()).message;
  const scheduled = await place.schedule(DAY, { replyTo });
  network.letGo();
  await untilStatus(place.chatId, replyTo, "FAILED");
  await workIsDone(place.object());
  await place.ringIn(DAY);
  await untilLength(calls, 2);
  expect(calls[1]?.body).not.toHaveProperty("context");
  expect((await place.message(scheduled.id)).replyTo).toBe(replyTo);
});

test("a canceled message keeps what it said, and an ended one is exported with it", async () => {
  const place = await scheduledPlace();
  const { secret } = await newKey(place.organizationId, { permissions: ["data:export"] });
  for (const [, fields] of SAID) {
    const { id } = await place.schedule(DAY, fields);
    const canceled = (await place.cancel(id)).body.message;
    expect(given(canceled)).toEqual(fields);
    const lines = await linesOf(secret, `/chats/${place.chatId}/export`);
    expect(lines.find(({ message }) => message?.id === id)?.message).toEqual(canceled);
  }
});

test("a resend says all that the failed message said, also after the message that it quotes is gone", async () => {
  const place = await retainedPlace("whatsapp");
  const calls = fakeNetworks(inTurn(acceptAs("wamid.quoted"), refuse(131026), refuse(131026), refuse(131026)));
  const [quoted] = (await place.sendSome("First")) as [Message];
  await place.delivered(quoted.id);
  await place.passDays(2);
  const failed: Message[] = [];
  for (const [, fields] of SAID) {
    const { id } = created(await place.post({ ...fields, replyTo: quoted.id })).message;
    await untilStatus(place.chatId, id, "FAILED");
    failed.push((await place.message(id)) as Message);
  }
  expect(calls.slice(1).map(({ body }) => body.context)).toEqual(failed.map(() => ({ message_id: "wamid.quoted" })));
  await place.passDays(29);
  expect((await place.read(quoted.id)).status).toBe(404);

  for (const message of failed) {
    const again = created(await place.api("POST", `/chats/${place.chatId}/messages/${message.id}/resend`)).message;
    expect(given(again)).toEqual(given(message));
    expect(again.interactive).toEqual(message.interactive);
    await place.delivered(again.id);
  }
  const bodies = calls.slice(4).map(({ body }) => body);
  expect(bodies.map(({ type }) => type)).toEqual(["interactive", "location", "contacts"]);
  for (const body of bodies) expect(body).not.toHaveProperty("context");
  // A new message can't quote what is gone.
  expectError(await place.post({ replyTo: quoted.id }), 400, "validation_failed");
});

const BLANK = ["interactive", "location", "contacts", "replyTo"];

test.each(SAID)(
  "a redaction blanks a message's %s in its place, in its schedule, after its end, and in old events",
  async (_field, fields) => {
    const place = await scheduledPlace();
    const { id: replyTo } = created(await place.post()).message;
    const body = { ...fields, replyTo };
    const placed = created(await place.post(body)).message;
    const scheduled = await place.schedule(DAY, body);
    const canceled = await place.schedule(DAY, body);
    await place.cancel(canceled.id);
    expect(JSON.stringify(await place.events())).toContain(CANARY);
    for (const { id } of [placed, scheduled, canceled]) {
      const { status, body: answer } = await place.redact(id);
      expect([status, answer.message.redactedAt]).toEqual([200, expect.any(String)]);
      for (const field of BLANK) expect(answer.message).not.toHaveProperty(field);
      expect(await place.message(id)).toEqual(answer.message);
    }
    expect(JSON.stringify(await place.events())).not.toContain(CANARY);
    expect(await storedBy(place.object())).not.toContain(CANARY);
  },
);

test("retention removes what messages said", async () => {
  const place = await retainedPlace();
  for (const [, fields] of SAID) created(await place.post(fields));
  expect(await place.stored()).toContain(CANARY);
  await place.passDays(32);
  expect((await place.get()).status).toBe(404);
  expect(await place.stored()).not.toContain(CANARY);
});

test("a full webhook gets what a message says, a thin one gets nothing of it", async () => {
  vi.useRealTimers();
  for (const payload of ["full", "thin"] as const) {
    const calls = fakeReceiver();
    const { api, chatId, settled } = await chatWithWebhook({ types: ["message.created"], payload });
    const sent: Message[] = [];
    for (const [, fields] of SAID) sent.push(await send(api, chatId, fields));
    await settled(SAID.length);
    if (payload === "full") expect(calls.map(({ event }) => event.data.message)).toEqual(sent);
    else for (const { text } of calls) expect(text).not.toMatch(CANARY);
  }
});

test("a webhook that failed gets a redacted message without its choices in the retry", async () => {
  const calls = fakeReceiver((_call, number) => new Response("busy", { status: number === 1 ? 503 : 200 }));
  const { api, chatId, ring, settled } = await chatWithWebhook({ types: ["message.created"] });
  const { id } = await send(api, chatId, { content: CANARY, ...SAID[0]?.[1] });
  await settled(1);
  expect(calls[0]?.text).toMatch(CANARY);
  expect((await admin("POST", `/chats/${chatId}/messages/${id}/redact`)).status).toBe(200);
  pass(MINUTE);
  await ring();
  await settled(2);
  expect(calls[1]?.event).toMatchObject({ type: "message.created", data: { messageId: id, message: { text: "" } } });
  expect(calls[1]?.text).not.toMatch(CANARY);
});

test("an event's log has nothing of what a message says", async () => {
  const place = await scheduledPlace();
  for (const [, fields] of SAID) {
    created(await place.post(fields));
    await place.schedule(DAY, fields);
  }
  const events = await runInDurableObject(place.object(), (_object, { storage }) =>
    storage.sql.exec("select * from events").toArray(),
  );
  expect(events.length).toBeGreaterThanOrEqual(2 * SAID.length);
  expect(JSON.stringify(events)).not.toContain(CANARY);
});

test("a key that only sends reads nothing of other messages by replying to them", async () => {
  const place = await scheduledPlace();
  const quoted = created(await place.post({ content: CANARY })).message;
  const sender = client((await newKey(place.organizationId, { permissions: ["messages:send"] })).secret);
  const answer = await sender("POST", `/chats/${place.chatId}/messages`, { content: "x", replyTo: quoted.id });
  expect(created(answer).message.replyTo).toBe(quoted.id);
  expect(answer.text).not.toContain(CANARY);
  expect((await admin("GET", `/chats/${place.chatId}`)).body.chat.lastMessage.text).toBe("x");
});
