import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { exportParts } from "../../../src/export/export.ts";
import { runAlarm } from "../../support/alarms.ts";
import { admin, newTemplate, send, sendMany } from "../../support/harness.ts";
import { TOMORROW } from "../../support/tomorrow.ts";
import { BOT_TOKEN, newNetworkChannel } from "../chats/object/delivery/conversation.ts";
import { contentOf, eachLine, expected, firstPart, linesOf, listsOf, open, place } from "./fixtures.ts";

test("a chat is exported with its messages, oldest first, and ends with a line that says so", async () => {
  const { api, ids, secret } = await place([0]);
  const chatId = ids[0] as string;
  const sent = await sendMany(api, chatId, 3);
  const lines = await linesOf(secret, `/chats/${chatId}/export`);
  expect(lines.map(({ type }) => type)).toEqual(["chat", "message", "message", "message", "checkpoint", "end"]);
  expect(lines[0]?.chat).toMatchObject({
    id: chatId,
    contact: (await api("GET", `/chats/${chatId}`)).body.chat.contact,
  });
  expect(lines.slice(1, 4).map(({ message }) => message)).toEqual(sent);
  expect(lines.at(-1)).toEqual({ type: "end", lastSeq: 3, next: null });
});

test("an organization without chats and a chat without messages are exported", async () => {
  const nothing = await place();
  const ofNothing = await linesOf(nothing.secret, "/export");
  expect(ofNothing.map(({ type }) => type)).toEqual(["member", "checkpoint", "channel", "checkpoint", "end"]);
  expect(ofNothing.at(-1)).toEqual({ type: "end", lastSeq: 0, next: null });
  const { ids, secret } = await place([0]);
  const lines = await linesOf(secret, `/chats/${ids[0]}/export`);
  expect(lines.map(({ type }) => type)).toEqual(["chat", "checkpoint", "end"]);
  expect(lines.at(-1)).toEqual({ type: "end", lastSeq: 0, next: null });
});

test("all chats are exported, each with all of its messages, and the operator gets the same", async () => {
  // No chat reports between the two exports.
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { ids, secret, organizationId } = await place([3, 0, 1_100]);
  const [one, two, three] = ids as [string, string, string];
  const lines = await linesOf(secret, "/export");
  expect(contentOf(lines)).toEqual(expected({ [one]: 3, [two]: 0, [three]: 1_100 }));
  expect(lines.at(-1)).toMatchObject({ type: "end", next: null });
  const answer = await admin("GET", `/organizations/${organizationId}/export`);
  expect(
    answer.text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  ).toEqual(lines);
  const ofChat = await admin("GET", `/chats/${one}/export`);
  expect(ofChat.text).toContain('{"type":"end","lastSeq":3,"next":null}');
});

test("an organization's members, channels, templates, saved replies and labels come first, without secrets, oldest first", async () => {
  const { organizationId, channelId, secret, ownerId } = await place([1]);
  const { member } = (await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea" })).body;
  const telegram = await newNetworkChannel(organizationId, "telegram");
  const template = await newTemplate(organizationId, "Hi {{name}}");
  const text = { name: "Bye", content: "Bye" };
  const { reply } = (await admin("POST", `/organizations/${organizationId}/replies`, text)).body;
  const labels = [];
  for (const name of ["First", "Second"]) {
    labels.push(
      (await admin("POST", `/organizations/${organizationId}/labels`, { name, color: "#2f80ed" })).body.label,
    );
  }
  const lines = await linesOf(secret, "/export");
  const ids = labels.map(({ id }) => id);
  expect(listsOf(lines)).toEqual([ownerId, member.id, channelId, telegram.id, template, reply.id, ...ids]);
  expect(lines.findIndex(({ type }) => type === "chat")).toBeGreaterThan(
    lines.findIndex((line) => line.label?.id === ids.at(-1)),
  );
  expect(lines.flatMap(({ label }) => label ?? [])).toEqual(labels);
  const { credentials, webhook, health, ...settings } = (await admin("GET", `/channels/${telegram.id}`)).body.channel;
  expect(lines.find(({ channel }) => channel?.id === telegram.id)?.channel).toEqual(settings);
  expect(lines.find((line) => line.member?.id === member.id)?.member).toEqual(member);
  expect(lines.find((line) => line.reply?.id === reply.id)?.reply).toEqual(reply);
  const shown = JSON.stringify(lines);
  for (const hidden of [credentials.botToken, webhook.verifyToken, BOT_TOKEN]) expect(shown).not.toContain(hidden);
  expect(health.state).toBe("ok");
});

test("messages without a place come before the others: scheduled ones, and those that were canceled", async () => {
  const { api, ids, secret } = await place([2]);
  const chatId = ids[0] as string;
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const one = await send(api, chatId, { scheduledAt });
  const other = await send(api, chatId, { scheduledAt });
  await api("POST", `/chats/${chatId}/messages/${other.id}/cancel`);
  const lines = await linesOf(secret, `/chats/${chatId}/export`);
  expect(contentOf(lines)).toEqual([
    `chat ${chatId}`,
    ...[one.id, other.id].toSorted().map((id) => `scheduled ${id}`),
    `message ${chatId} 1`,
    `message ${chatId} 2`,
  ]);
  expect(lines.find(({ message }) => message?.id === one.id)?.message).toEqual(one);
  expect(lines.find(({ message }) => message?.id === other.id)?.message).toMatchObject({
    status: "CANCELED",
    seq: null,
  });
});

test("a message that takes its place between two parts of the scheduled ones is exported", async () => {
  const { api, ids, secret } = await place([3]);
  const chatId = ids[0] as string;
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const first = await send(api, chatId, { scheduledAt });
  const object = env.CHATS.getByName(chatId);
  // More than one part, with ids behind the first one.
  const planted = Array.from({ length: 900 }, (_, n) => `msg_zz${String(n).padStart(14, "0")}`);
  await runInDurableObject(object, (_object, { storage }) => {
    for (const id of planted) {
      storage.sql.exec(
        "insert into scheduled (id, doc, due_at, turn) values (?, ?, ?, 9)",
        id,
        JSON.stringify({ ...first, id }),
        Date.parse(scheduledAt),
      );
    }
  });
  await evictDurableObject(object);
  const part = await firstPart(eachLine(await open(secret, `/chats/${chatId}/export`)));
  expect(contentOf(part)).toHaveLength(1 + 500);
  const late = planted.at(-1) as string;
  expect((await api("PATCH", `/chats/${chatId}/messages/${late}`, { scheduledAt: null })).status).toBe(200);
  await runAlarm(object);
  const rest = await linesOf(secret, `/chats/${chatId}/export?after=${part.at(-1)?.next}`);
  const content = [...contentOf(part), ...contentOf(rest)];
  expect(content).toContain(`message ${chatId} 4`);
  expect(content).not.toContain(`scheduled ${late}`);
  expect(content).toHaveLength(1 + 900 + 4);
  expect(new Set(content).size).toBe(content.length);
});

test("a redacted message is exported without its text", async () => {
  const { api, ids, secret } = await place([0]);
  const sent = await send(api, ids[0] as string, { content: "secret words" });
  await admin("POST", `/chats/${ids[0]}/messages/${sent.id}/redact`);
  const lines = await linesOf(secret, `/chats/${ids[0]}/export`);
  expect(JSON.stringify(lines)).not.toContain("secret words");
  expect(lines[1]?.message).toMatchObject({ seq: 1, text: "" });
});

test("an export has nothing of another organization", async () => {
  const [, other] = [await place([1]), await place([1])];
  expect(contentOf(await linesOf(other.secret, "/export"))).toEqual(expected({ [other.ids[0] as string]: 1 }));
});

test("an export rests between the parts of a long chat, so that sends in other chats are not delayed", async () => {
  const { ids, organizationId } = await place([1_100]);
  const waits = vi.spyOn(scheduler, "wait");
  const scope = { organizationId, chatId: ids[0] as string, missing: "chat_not_found" as const };
  await Array.fromAsync(exportParts(env, scope, null));
  const pauses = waits.mock.calls.map(([ms]) => ms);
  vi.restoreAllMocks();
  // After 500 and after 1,000 messages.
  expect(pauses).toHaveLength(2);
  expect(Math.min(...pauses)).toBeGreaterThan(50);
});

test("the next part is read only when the client has taken the one before", async () => {
  const { ids, secret } = await place([3_000]);
  const object = env.CHATS.getByName(ids[0] as string);
  let pages = 0;
  await runInDurableObject(object, (_object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    storage.sql.exec = ((query: string, ...given: unknown[]) => {
      if (query.includes("json_valid(doc) order by seq")) pages++;
      return exec(query, ...given);
    }) as typeof storage.sql.exec;
  });
  const lines = eachLine(await open(secret, `/chats/${ids[0]}/export`));
  await firstPart(lines);
  expect(pages).toBeLessThanOrEqual(30);
  expect(contentOf(await Array.fromAsync(lines))).toHaveLength(2_500);
  expect(pages).toBe(60);
});
