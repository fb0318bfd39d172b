import { expect, test, vi } from "vitest";
import { admin, created, expectError, newKey, newOrganization } from "../../support/harness.ts";
import { untilStatus } from "../../support/message-status.ts";
import { inTurn, refuse } from "../../support/networks.ts";
import { newSite, newToken, visit } from "../../support/sockets.ts";
import { CREDENTIALS } from "../../support/world/factories.ts";
import { fromMeta, fromTelegram, KINDS, taken, telegramText, textOf, whatsappText } from "../inbound/webhook-calls.ts";
import { conversationSums } from "../management/conversation-sums.ts";
import { awayPlace, CLOSED, HOUR, TEXT } from "./away-fixtures.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { MINUTE } from "./object/scheduled/fixtures.ts";

stopTheClock();

test.for(KINDS)(
  "a contact who writes on %s outside of the hours is told so, by one message of the channel",
  async (kind) => {
    const { says, messages, told, events, chatId } = await awayPlace(kind);
    taken(await says());
    const [, written] = await messages();
    // Before the alarm rings.
    await untilStatus(chatId, written?.id ?? "", "SENT");
    expect(told()).toEqual([TEXT]);
    const [, away] = await messages();
    const fields = { seq: 2, direction: "OUTBOUND", type: "TEXT", content: TEXT, text: TEXT, senderId: null };
    expect(away).toMatchObject({ ...fields, origin: "away", status: "SENT", templateId: null, metadata: {} });
    const types = (await events()).map(({ type, data }) => [type, data.seq ?? null]);
    expect(types.slice(1)).toEqual([
      ["message.received", 1],
      ["message.created", 2],
      ["message.status", 2],
    ]);
  },
);

test("five messages of one run get one away message, and another one comes after 12 hours in a new run only", async () => {
  const { says, turns, answer, evict } = await awayPlace("telegram");
  for (let n = 0; n < 5; n++) {
    taken(await says());
    pass(MINUTE);
    if (n === 2) await evict();
  }
  const first = ["INBOUND", "away", "INBOUND", "INBOUND", "INBOUND", "INBOUND"];
  expect(await turns()).toEqual(first);
  pass(13 * HOUR);
  // Nobody has answered: it is the same run.
  taken(await says());
  expect(await turns()).toEqual([...first, "INBOUND"]);
  await answer();
  await evict();
  taken(await says());
  const second = [...first, "INBOUND", "OUTBOUND", "INBOUND", "away"];
  expect(await turns()).toEqual(second);
  await answer();
  pass(11 * HOUR);
  taken(await says());
  expect(await turns()).toEqual([...second, "OUTBOUND", "INBOUND"]);
  pass(HOUR);
  // The run began after the last away message.
  taken(await says());
  expect((await turns()).slice(-3)).toEqual(["INBOUND", "INBOUND", "away"]);
});

test("closing the chat and marking it as answered end a run too, and a message opens a closed and a snoozed chat", async () => {
  const { says, turns, shown, api, chatId } = await awayPlace("telegram");
  const set = async (body: object) => expect((await api("PATCH", `/chats/${chatId}`, body)).status).toBe(200);
  await set({ state: "closed" });
  taken(await says());
  expect(await shown()).toMatchObject({ state: "open" });
  expect(await turns()).toEqual(["INBOUND", "away"]);
  pass(13 * HOUR);
  await set({ state: "snoozed", snoozedUntil: new Date(Date.now() + 48 * HOUR).toISOString() });
  expect((await api("POST", `/chats/${chatId}/answered`)).status).toBe(200);
  taken(await says());
  expect(await shown()).toMatchObject({ state: "open", snoozedUntil: null });
  expect(await turns()).toEqual(["INBOUND", "away", "INBOUND", "away"]);
});

test("hours past midnight and the change of the clocks decide by the clock of the time zone", async () => {
  const week = { friday: [{ opens: "22:00", closes: "24:00" }], saturday: [{ opens: "00:00", closes: "02:30" }] };
  // In the night to the last Sunday of October, Berlin's clocks go back at 3 o'clock.
  const year = new Date(Date.now()).getUTCFullYear() + 1;
  const sunday = 31 - new Date(Date.UTC(year, 9, 31)).getUTCDay();
  const berlin = {
    hours: { timeZone: "Europe/Berlin", week: { ...week, sunday: [{ opens: "02:30", closes: "04:00" }] } },
  };
  const turnsAt = async (daysBefore: number, time: string) => {
    const { says, turns } = await awayPlace("telegram", { ...berlin, away: { text: TEXT } });
    vi.setSystemTime(Date.parse(`${year}-10-${sunday - daysBefore}T${time}Z`));
    taken(await says());
    return turns();
  };
  vi.setSystemTime(Date.UTC(year, 9, 1, 12));
  const closed = ["INBOUND", "away"];
  expect(await turnsAt(2, "19:59:59")).toEqual(closed);
  expect(await turnsAt(2, "20:00:00")).toEqual(["INBOUND"]);
  expect(await turnsAt(2, "22:10:00")).toEqual(["INBOUND"]);
  expect(await turnsAt(1, "00:29:59")).toEqual(["INBOUND"]);
  expect(await turnsAt(1, "00:30:00")).toEqual(closed);
  // 02:29 and, after the clocks went back, 02:30 for the second time.
  expect(await turnsAt(0, "00:29:00")).toEqual(closed);
  expect(await turnsAt(0, "00:30:00")).toEqual(["INBOUND"]);
  expect(await turnsAt(0, "01:30:00")).toEqual(["INBOUND"]);
  expect(await turnsAt(0, "03:00:00")).toEqual(closed);
});

test.each([
  ["without hours", { away: { text: TEXT } }],
  ["without a text", { hours: CLOSED.hours }],
])("%s, no contact gets an away message", async (_name, settings) => {
  const { says, turns } = await awayPlace("whatsapp", settings);
  taken(await says());
  expect(await turns()).toEqual(["INBOUND"]);
});

test("a stop word gets no away message, and a contact who opted out none", async () => {
  const { says, turns, api, chatId, shown } = await awayPlace("whatsapp", { ...CLOSED, stopWords: ["STOP"] });
  taken(await says("stop"));
  expect((await shown()).marketing).toMatchObject({ optedOut: true });
  taken(await says("And my order?"));
  expect(await turns()).toEqual(["INBOUND", "INBOUND"]);
  await api("PATCH", `/chats/${chatId}`, { marketing: { optedOut: false } });
  taken(await says());
  expect((await turns()).slice(-2)).toEqual(["INBOUND", "away"]);
});

test("a group gets no away message", async () => {
  const { channel, channelId, api } = await awayPlace("telegram");
  const chat = { id: -100_777, type: "supergroup", title: "T" };
  taken(await fromTelegram(channel, telegramText(5, "Hello all", { chat, from: { id: 5, first_name: "Ada" } })));
  const found = (await api("GET", `/chats?channel=${channelId}`)).body.chats.find(
    ({ contact }: { contact: { address: string } }) => contact.address === "-100777",
  );
  const { messages } = (await api("GET", `/chats/${found.id}/messages`)).body;
  expect(messages).toMatchObject([{ direction: "INBOUND", author: { id: "5" } }]);
});

test("what the contact writes to the network's own agent gets no away message", async () => {
  const { channel, address, turns } = await awayPlace("whatsapp");
  const standby = whatsappText({ wa_id: address }, "Hello agent");
  taken(await fromMeta(channel, [{ standby }], { field: "standby" }));
  expect(await turns()).toEqual(["INBOUND"]);
});

test("while a bot has the chat, nobody is away, and once people have it they are", async () => {
  const place = await awayPlace("telegram");
  const { key: bot } = await newKey(place.organizationId, { permissions: ["messages:send"] });
  const set = await admin("PATCH", `/channels/${place.channelId}`, { settings: { bot: { keyId: bot.id } } });
  expect(set.status, set.text).toBe(200);
  const from = "4915199887766";
  pass(20_000);
  taken(await textOf(place, "telegram", from, "Hello bot")());
  const { chats } = (await place.api("GET", `/chats?channel=${place.channelId}`)).body;
  const { id } = chats.find(({ contact }: { contact: { address: string } }) => contact.address === from);
  const origins = async () =>
    (await place.api("GET", `/chats/${id}/messages`)).body.messages.map(({ origin }: { origin?: string }) => origin);
  expect(await origins()).toEqual([undefined]);
  const handed = await place.api("POST", `/chats/${id}/handover`, { to: "people" });
  expect(handed.status, handed.text).toBe(200);
  taken(await textOf(place, "telegram", from, "Is anybody there?")());
  expect(await origins()).toEqual(["away", undefined, undefined]);
  // It is no person, and no bot.
  expect(handed.body.chat).toMatchObject({ handler: "people" });
  const { unansweredSince } = (await place.api("GET", `/chats/${id}`)).body.chat;
  expect(unansweredSince).toBe(handed.body.chat.unansweredSince);
});

test("a message that the network sends again brings no second away message, also after an eviction", async () => {
  const { channel, address, turns, evict } = await awayPlace("whatsapp");
  const repeat = textOf({ channel }, "whatsapp", address, "Hello?");
  taken(await repeat());
  taken(await repeat());
  await evict();
  taken(await repeat());
  expect(await turns()).toEqual(["INBOUND", "away"]);
});

test("ifSeq passes over away messages at the end of the chat, for a send and for a state", async () => {
  const { says, post, api, chatId, answer } = await awayPlace("telegram");
  const close = (ifSeq: number) => api("PATCH", `/chats/${chatId}`, { state: "closed", ifSeq });
  await answer();
  taken(await says());
  expectError(await post({ ifSeq: 1 }), 409, "chat_moved_on", "newest message has the seq 3");
  expectError(await close(1), 409, "chat_moved_on");
  expect((await close(2)).status).toBe(200);
  expect((await post({ ifSeq: 2 })).body.message.seq).toBe(4);
  expectError(await post({ ifSeq: 3 }), 409, "chat_moved_on");
  pass(13 * HOUR);
  taken(await says());
  expect((await post({ ifSeq: 6 })).body.message.seq).toBe(7);
});

test("an away message leaves the contact waiting, and no answer is counted until somebody answers", async () => {
  const { says, shown, answer, report, api, channelId, evict } = await awayPlace("telegram");
  taken(await says());
  const { unansweredSince } = await shown();
  expect(unansweredSince).toBe(new Date().toISOString());
  await evict();
  expect((await shown()).unansweredSince).toBe(unansweredSince);
  await report();
  expect((await api("GET", "/chats?unanswered=true")).body.chats).toMatchObject([{ unansweredSince }]);
  expect(await conversationSums(channelId)).toEqual({ received: 1, sent: 1, newChats: 1 });
  pass(8 * MINUTE);
  await answer();
  await report();
  expect(await conversationSums(channelId)).toMatchObject({ received: 1, answers: 1, later: 1 });
  expect((await shown()).unansweredSince).toBeNull();
});

test("an away message that the network refuses has failed as any other, and can be sent again", async () => {
  const { says, messages, run, api, chatId } = await awayPlace("telegram", CLOSED, inTurn(refuse(403, "Forbidden")));
  taken(await says());
  await run();
  const [, away] = await messages();
  expect(away).toMatchObject({ status: "FAILED", origin: "away" });
  const again = created(await api("POST", `/chats/${chatId}/messages/${away?.id}/resend`));
  expect(again.message).toMatchObject({ resendOf: away?.id, content: TEXT });
  expect(again.message.origin).toBeUndefined();
});

test("a visitor gets the away message after its own, on all pages, without its origin", async () => {
  const longest = "界".repeat(1_024);
  const { channelId, api } = await newSite({
    ...CLOSED,
    away: { text: longest },
    stopWords: Array(20).fill("界".repeat(64)),
  });
  const token = newToken();
  const { page } = await visit(channelId, { token });
  const { page: other } = await visit(channelId, { token });
  expect(await page.write("a", "Hello?")).toMatchObject({ type: "stored", seq: 1 });
  const { message, type } = await page.pastStatuses();
  expect([type, message.seq, message.text, message.direction]).toEqual(["message", 2, longest, "OUTBOUND"]);
  expect(message).not.toHaveProperty("origin");
  expect((await other.pastStatuses()).message.seq).toBe(1);
  expect((await other.pastStatuses()).message).toEqual(message);
  // The page repeats what it does not know to be stored.
  expect(await page.write("a", "Hello?")).toMatchObject({ type: "stored", seq: 1 });
  expect((await page.rest()).filter((frame) => frame.type === "message")).toEqual([]);
  const chatId = (await api("GET", "/chats")).body.chats[0].id;
  const { messages } = (await api("GET", `/chats/${chatId}/messages`)).body;
  expect(messages).toMatchObject([{ origin: "away", seq: 2 }, { seq: 1 }]);
  const { ready } = await visit(channelId, { token });
  expect(ready.messages[1]).not.toHaveProperty("origin");
});

test("an open page follows a changed text within seconds, and none comes once the hours have begun", async () => {
  const { channelId } = await newSite(CLOSED);
  const token = newToken();
  const { page } = await visit(channelId, { token });
  const change = (settings: object) => admin("PATCH", `/channels/${channelId}`, { settings });
  await change({ away: { text: "Back on Monday" } });
  pass(20_000);
  await page.write("a");
  expect((await page.pastStatuses()).message.text).toBe("Back on Monday");
  await change({ hours: null });
  pass(13 * HOUR);
  await page.write("b");
  expect(await page.rest()).toEqual([]);
});

test.each([
  [{ text: "x".repeat(1_024) }, 200],
  [{ text: "x".repeat(1_025) }, 400, "settings.away.text"],
  [{ text: "" }, 400, "settings.away.text"],
  [{ text: " \u200b" }, 400, "settings.away.text"],
  [{ text: "\ud800" }, 400, "settings.away.text"],
  [{ text: 1 }, 400, "settings.away.text"],
  [{}, 400, "settings.away.text"],
  ["Away", 400, "settings.away"],
  [null, 200],
])("the away setting %j is answered with %i, on each kind of channel", async (away, status, path?: string) => {
  const { organizationId } = await newOrganization();
  const hours = { timeZone: "Europe/Berlin", week: { monday: [{ opens: "09:00", closes: "17:00" }] } };
  for (const kind of ["whatsapp", "telegram", "web"] as const) {
    const body = { kind, name: "C", credentials: CREDENTIALS[kind] };
    const { channel } = created(await admin("POST", `/organizations/${organizationId}/channels`, body));
    const answer = await admin("PATCH", `/channels/${channel.id}`, { settings: { away, hours } });
    expect(answer.status, answer.text).toBe(status);
    if (path !== undefined) expect(answer.text).toContain(path);
    const { settings } = (await admin("GET", `/channels/${channel.id}`)).body.channel;
    expect(settings.away).toEqual(status === 200 ? (away ?? undefined) : undefined);
    expect(settings.hours).toEqual(status === 200 ? hours : undefined);
    const bad = { hours: { timeZone: "Mars/Base", week: {} } };
    expect((await admin("PATCH", `/channels/${channel.id}`, { settings: bad })).status).toBe(400);
  }
});
