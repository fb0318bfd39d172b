import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import type { ChatReport } from "../../../src/model/organization.ts";
import { StandingAlarm } from "../../../src/platform/object/alarm.ts";
import { runAlarm, workIsDone } from "../../support/alarms.ts";
import { asOwner } from "../../support/as-owner.ts";
import { aroundCall, breakDirectory, breakObjects, OUTAGES, replaceMethod } from "../../support/faults.ts";
import {
  admin,
  type Client,
  created,
  expectError,
  newChat,
  newOrganization,
  send,
  shortened,
} from "../../support/harness.ts";
import { untilStatus } from "../../support/message-status.ts";
import { fakeNetworks, hanging } from "../../support/networks.ts";
import { storedChat } from "../../support/stored.ts";
import { alarmOf, conversation, pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

interface Place {
  api: Client;
  organizationId: string;
  channelId: string;
}

/** Telegram answers each send once `release` is called. `fetched` waits for the first. */
function fakeSlowNetwork() {
  const { script, reached, letGo } = hanging();
  fakeNetworks(script);
  return { fetched: reached, release: letGo };
}

/** A chat with one message that was not reported to the organization yet. */
async function activeChat({ api, organizationId, channelId }: Place) {
  const { id } = await newChat(api, channelId);
  const message = await send(api, id);
  return {
    id,
    at: message.createdAt,
    object: env.CHATS.getByName(id),
    /** The time of the last message, as the list of chats shows it. */
    listed: async (): Promise<string | null> => {
      const { chats } = (await api("GET", "/chats?limit=100")).body as { chats: Chat[] };
      return chats.find((chat) => chat.id === id)?.lastMessageAt ?? null;
    },
    stored: () => storedChat(organizationId, id),
  };
}

test("a message's time reaches the list of chats within 2 s, and that of the next message within 5 s", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  expect(await chat.listed()).toBeNull();
  expect(await alarmOf(chat.object)).toBe(Date.now() + 2_000);
  await runAlarm(chat.object);
  expect(await chat.listed()).toBe(chat.at);

  vi.setSystemTime(Date.now() + 1_000);
  const { createdAt } = await send(organization.api, chat.id);
  expect(await alarmOf(chat.object)).toBe(Date.now() + 4_000);
  await runAlarm(chat.object);
  expect(await chat.listed()).toBe(createdAt);
});

test("a message after a quiet minute reaches the list of chats within 200 ms, also by the next instance", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  await runAlarm(chat.object);
  pass(60_000);
  await send(organization.api, chat.id);
  expect((await alarmOf(chat.object)) ?? 0).toBeLessThanOrEqual(Date.now() + 200);
  await runAlarm(chat.object);
  pass(30_000);
  await send(organization.api, chat.id);
  expect(await alarmOf(chat.object)).toBe(Date.now() + 2_000);
  await runAlarm(chat.object);
  await evictDurableObject(chat.object);
  // It does not know whether somebody listens.
  const { createdAt } = await send(organization.api, chat.id);
  expect((await alarmOf(chat.object)) ?? 0).toBeLessThanOrEqual(Date.now() + 200);
  await runAlarm(chat.object);
  expect(await chat.listed()).toBe(createdAt);
});

test("a message that waits for its network is reported with its outcome, by one alarm", async () => {
  const { fetched, release } = fakeSlowNetwork();
  const place = await conversation("telegram");
  await runAlarm(place.object());
  pass(60_000);
  const { id } = await send(place.api, place.chatId);
  await fetched();
  const alarms = vi.spyOn(StandingAlarm.prototype, "set");
  expect(await alarmOf(place.object())).toBe(Date.now() + 2_000);
  release();
  await untilStatus(place.chatId, id, "SENT");
  await workIsDone(place.object());
  expect(await alarmOf(place.object())).toBe(Date.now() + 2_000);
  expect(alarms).not.toHaveBeenCalled();
});

test("after a chat has reported its activity, it has no alarm, and a further alarm reports nothing", async () => {
  const chat = await activeChat(await newOrganization());
  await runAlarm(chat.object);
  expect(await alarmOf(chat.object)).toBeNull();
  let reports = 0;
  replaceMethod("ORGANIZATIONS", "report", (original) => (report) => {
    reports++;
    return original(report);
  });
  await runAlarm(chat.object);
  expect(reports).toBe(0);
});

test.each(OUTAGES)("activity reaches the list of chats while D1 is down (%s error)", async (outage) => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  await organization.api("GET", "/chats");
  breakDirectory(outage);
  await runAlarm(chat.object);
  expect(await chat.listed()).toBe(chat.at);
});

test.each(["", ", even after an eviction"])(
  "a chat repeats a report that its organization's object did not answer%s",
  async (eviction) => {
    const chat = await activeChat(await newOrganization());
    breakObjects("ORGANIZATIONS", "report");
    await runAlarm(chat.object);
    vi.restoreAllMocks();
    expect(await chat.listed()).toBeNull();
    const again = ((await alarmOf(chat.object)) ?? 0) - Date.now();
    expect(again).toBeGreaterThanOrEqual(12_000);
    expect(again).toBeLessThanOrEqual(18_000);
    if (eviction !== "") await evictDurableObject(chat.object);
    pass(again);
    await runAlarm(chat.object);
    expect(await chat.listed()).toBe(chat.at);
    expect(await alarmOf(chat.object)).toBeNull();
  },
);

test("failed reports are repeated ever later, up to every ten minutes", async () => {
  const chat = await activeChat(await newOrganization());
  breakObjects("ORGANIZATIONS", "report");
  const waits: number[] = [];
  for (let failure = 1; failure <= 8; failure++) {
    await runAlarm(chat.object);
    waits.push(((await alarmOf(chat.object)) ?? 0) - Date.now());
    pass(waits.at(-1) as number);
  }
  expect(waits[3]).toBeGreaterThan(2 * (waits[0] as number));
  expect(waits[7]).toBeGreaterThanOrEqual(480_000);
  expect(waits[7]).toBeLessThanOrEqual(720_000);
});

/** The last report of a chat, for tests that change it. */
async function lastReport(chat: Awaited<ReturnType<typeof activeChat>>): Promise<ChatReport> {
  const reports: ChatReport[] = [];
  replaceMethod("ORGANIZATIONS", "report", (original) => (report) => {
    reports.push(report as ChatReport);
    return original(report);
  });
  await runAlarm(chat.object);
  vi.restoreAllMocks();
  return reports.at(-1) as ChatReport;
}

test("a report that arrives late, or twice, changes nothing, even after an eviction of the organization's object", async () => {
  const { organizationId, ...organization } = await newOrganization();
  const chat = await activeChat({ organizationId, ...organization });
  const report = await lastReport(chat);
  const known = await chat.stored();
  const { number } = report;
  const object = () => env.ORGANIZATIONS.getByName(organizationId);
  for (const late of [number, number - 1]) {
    const lastMessageAt = Date.now() + 5_000;
    expect(await object().report({ ...report, number: late, lastMessageAt })).toMatchObject({ outcome: "ok", number });
    await evictDurableObject(object());
  }
  expect(await chat.stored()).toEqual(known);
  expect(await object().report({ ...report, number: number + 1, lastMessageAt: null })).toMatchObject({
    outcome: "ok",
    number: number + 1,
  });
  expect(await chat.listed()).toBeNull();
});

test("a report of another life of the chat, and one of an unknown chat, change nothing", async () => {
  const { organizationId, ...organization } = await newOrganization();
  const chat = await activeChat({ organizationId, ...organization });
  const report = await lastReport(chat);
  const known = await chat.stored();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const next = { ...report, number: report.number + 1, lastMessage: null };
  for (const foreign of [{ life: report.life - 1 }, { life: report.life + 1 }, { chatId: "cht_gaaaaaaaaaaaaaaa" }]) {
    expect(await object.report({ ...next, ...foreign })).toEqual({ outcome: "unknown" });
  }
  expect(await chat.stored()).toEqual(known);
  expect(await storedChat(organizationId, "cht_gaaaaaaaaaaaaaaa")).toBeUndefined();
});

test("a chat whose storage was restored to an earlier time reports again with a greater number", async () => {
  const { organizationId, ...organization } = await newOrganization();
  const chat = await activeChat({ organizationId, ...organization });
  const report = await lastReport(chat);
  const ahead = { ...report, number: report.number + 7, lastMessageAt: null };
  await env.ORGANIZATIONS.getByName(organizationId).report(ahead);
  const { createdAt } = await send(organization.api, chat.id);
  await runAlarm(chat.object);
  await runAlarm(chat.object);
  expect(await chat.listed()).toBe(createdAt);
  expect((await chat.stored())?.report).toBeGreaterThan(ahead.number);
});

test("the list shows a message's time even if the clock was set back after the chat was created", async () => {
  const organization = await newOrganization();
  const made = await newChat(organization.api, organization.channelId);
  vi.setSystemTime(Date.now() - 500);
  const message = await send(organization.api, made.id);
  expect(message.createdAt).toBe(made.createdAt);
  await runAlarm(env.CHATS.getByName(made.id));
  const { chats } = (await organization.api("GET", "/chats")).body;
  expect(chats).toEqual([{ ...made, lastMessageAt: message.createdAt, lastMessage: shortened(message) }]);
});

test("a message that arrives during a report is in the next report", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  const sent: string[] = [];
  const before = async () => sent.push((await send(organization.api, chat.id)).createdAt);
  vi.setSystemTime(Date.now() + 100);
  aroundCall("ORGANIZATIONS", "report", { before });
  await runAlarm(chat.object);
  vi.restoreAllMocks();
  expect(await chat.listed()).toBe(chat.at);
  expect(await alarmOf(chat.object)).toBe(Date.now() + 5_000);
  await runAlarm(chat.object);
  expect([await chat.listed()]).toEqual(sent);
});

test("a report has the newest message, shortened, and since when the contact waits for an answer", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  const receive = (dedupe: string, content: string) =>
    env.CHATS.getByName(chat.id).receive(asOwner(organization.organizationId), {
      id: `msg_g${dedupe.padEnd(15, "0")}`,
      dedupe,
      type: "TEXT",
      content,
      media: null,
      origin: "https://parley.test",
      addresses: [],
    });
  const stored = async () => {
    await runAlarm(chat.object);
    const row = await chat.stored();
    return { since: row?.unanswered_since, lastMessage: JSON.parse(row?.last_message ?? "null") };
  };
  expect(await stored()).toMatchObject({ since: null, lastMessage: { direction: "OUTBOUND", text: "Hello" } });
  vi.setSystemTime(Date.now() + 1_000);
  const asked = Date.now();
  await receive("one", "Hi");
  await evictDurableObject(chat.object);
  vi.setSystemTime(Date.now() + 1_000);
  await receive("two", `${"x".repeat(159)}\u{1f600}`);
  expect(await stored()).toMatchObject({
    since: asked,
    lastMessage: { seq: 3, direction: "INBOUND", text: `${"x".repeat(159)}\ufffd` },
  });
  created(await organization.api("POST", `/chats/${chat.id}/messages`, { content: "An answer" }));
  expect(await stored()).toMatchObject({ since: null, lastMessage: { seq: 4, text: "An answer" } });
});

/** A chat whose last message, with the text "A secret", is in the list of chats. */
async function chatWithSecret() {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  const { id } = await send(organization.api, chat.id, { content: "A secret" });
  await runAlarm(chat.object);
  const lastMessage = async () => JSON.parse((await chat.stored())?.last_message ?? "null").text;
  expect(await lastMessage()).toBe("A secret");
  const redact = () => admin("POST", `/chats/${chat.id}/messages/${id}/redact`);
  return { ...organization, chat, lastMessage, redact };
}

test("a redaction is answered after the list of chats shows nothing of the text, also if a newer message is not reported yet", async () => {
  for (const isNewest of [true, false]) {
    const { api, chat, lastMessage, redact } = await chatWithSecret();
    if (!isNewest) await send(api, chat.id, { content: "Newer" });
    expect((await redact()).status).toBe(200);
    expect(await lastMessage()).toBe(isNewest ? "" : "Newer");
  }
});

test.each([
  ["the newest message", false, false],
  ["the newest message, with an eviction before the repetition", true, false],
  ["a message before one that is not reported yet", false, true],
])(
  "the redaction of %s is a 503 while the organization's object does not answer, and can be repeated",
  async (_, isEvicted, hasNewer) => {
    const { api, chat, lastMessage, redact } = await chatWithSecret();
    if (hasNewer) await send(api, chat.id, { content: "Newer" });
    for (const _ of [1, 2]) {
      breakObjects("ORGANIZATIONS", "report");
      expectError(await redact(), 503, "unavailable");
      vi.restoreAllMocks();
      expect(await lastMessage()).toBe("A secret");
      if (isEvicted) await evictDurableObject(chat.object);
    }
    expect((await api("GET", `/chats/${chat.id}/messages`)).text).not.toContain("A secret");
    expect((await redact()).status).toBe(200);
    expect(await lastMessage()).toBe(hasNewer ? "Newer" : "");
    expectError(await redact(), 404, "message_not_found");
  },
);

test("a redaction that got a 503 reaches the list of chats by the chat's alarm, and its repetition is a 200", async () => {
  const { chat, lastMessage, redact } = await chatWithSecret();
  breakObjects("ORGANIZATIONS", "report");
  expectError(await redact(), 503, "unavailable");
  vi.restoreAllMocks();
  expect(await alarmOf(chat.object)).not.toBeNull();
  pass(60_000);
  await runAlarm(chat.object);
  expect(await lastMessage()).toBe("");
  expect((await redact()).status).toBe(200);
  expectError(await redact(), 404, "message_not_found");
});
