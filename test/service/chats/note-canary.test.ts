import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { app } from "../../../src/app.ts";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { runAlarm } from "../../support/alarms.ts";
import { directoryText } from "../../support/canaries.ts";
import {
  admin,
  type Client,
  client,
  created,
  newChannel,
  newChat,
  newKey,
  newOrganization,
  newTemplate,
  send,
} from "../../support/harness.ts";
import { visit } from "../../support/sockets.ts";
import { storedBy } from "../../support/stored.ts";
import { until } from "../../support/until.ts";
import { openStream } from "../events/fixtures.ts";
import { addWebhook, fakeReceiver } from "../webhooks/receiver.ts";
import { report, writeAsContact } from "./inbound.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

const CANARY = "canary-of-a-note-4711";

/** The routes that answer what notes say, and the stream, which the test reads separately. */
const LEFT_OUT = /\/(?:notes|events\/stream)$/;

/** Further queries of lists, by the end of their path. */
const QUERIES: Record<string, string[]> = {
  "/chats": ["unanswered=true", "scheduled=true", "assignee=none", "search=canary", "channel=web"],
  "/messages": ["search=canary", "type=TEXT", "direction=OUTBOUND"],
  "/v1/events": ["from=oldest", "types=note.*"],
};

/** Every route that only reads, with the ids of one organization, and the further queries of its lists. */
function readsBelow(prefix: string, ids: Record<string, string>): string[] {
  const paths = app.routes
    .filter(({ method, path }) => method === "GET" && path.startsWith(prefix) && !LEFT_OUT.test(path))
    .map(({ path }) => path.replace(/([\w-]+)\/:\w+/g, (_, list: string) => `${list}/${ids[list] ?? "x"}`));
  return [...new Set(paths)].flatMap((path) => {
    const [, queries = []] = Object.entries(QUERIES).find(([end]) => path.endsWith(end)) ?? [];
    return ["", ...queries.map((query) => `?${query}`)].map((query) => path.slice(prefix.length) + query);
  });
}

/** What these reads answer, without the lines of an export that are notes. */
async function answersTo(read: Client, paths: string[]): Promise<string[]> {
  const answers: string[] = [];
  for (const path of paths) {
    const { status, text, headers } = await read("GET", path);
    const lines = text.split("\n").filter((line) => !line.startsWith('{"type":"note"'));
    answers.push(`${status} ${path} ${JSON.stringify([...headers])} ${lines.join("\n")}`);
  }
  return answers;
}

/** Everything that the service logs from here on. */
function listenToLog(): string[] {
  const lines: string[] = [];
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((...line) => void lines.push(JSON.stringify(line)));
  }
  return lines;
}

test("what a note says leaves the service by the routes of notes and in an export's notes alone", async () => {
  const { organizationId, channelId, ownerId, api } = await newOrganization();
  const logged = listenToLog();
  const networkCalls: string[] = [];
  const webhookCalls = fakeReceiver(undefined, async (url, init) => {
    networkCalls.push(`${url} ${JSON.stringify([...new Headers(init.headers)])} ${String(init.body as string)}`);
    return Response.json({ ok: true, result: { message_id: networkCalls.length } });
  });
  const webhooks = [await addWebhook(organizationId), await addWebhook(organizationId, { payload: "thin" })];
  const telegramId = await newChannel(organizationId, "telegram");
  const templateId = await newTemplate(organizationId, "Hello");
  const { key, secret } = await newKey(organizationId, { permissions: [...PERMISSIONS] });
  const all = client(secret);
  const ofNetwork = await newChat(api, telegramId, "4711");
  const { page } = await visit(channelId);
  await page.write("1", "Hi from the visitor");
  const { body } = await api("GET", "/chats?channel=web");
  const chatIds: string[] = [ofNetwork.id, body.chats[0].id];
  const streams = [await openStream(secret, "types=note.*"), await openStream(secret)];

  const messageIds: Record<string, string> = {};
  for (const chatId of chatIds) {
    await all("PATCH", `/chats/${chatId}`, { assigneeId: ownerId });
    created(await all("POST", `/chats/${chatId}/notes`, { content: CANARY, mentions: [ownerId] }));
    messageIds[chatId] = (await send(api, chatId, { content: "Hi from us" })).id;
    await writeAsContact(organizationId, chatId);
    await report(chatId);
  }
  await runAlarm(env.ORGANIZATIONS.getByName(organizationId));
  await until(
    "the webhooks have heard of the notes",
    () => webhookCalls.filter(({ event }) => event.type === "note.created"),
    ({ length }) => length === 4,
  );
  await until(
    "the network has the message",
    () => networkCalls.join(),
    (texts) => texts.includes("Hi from us"),
  );
  const [eventId = ""] = (await all("GET", "/events?types=note.*")).body.events.map(({ id }: { id: string }) => id);
  const [webhookId = ""] = webhooks;
  const answers: string[] = [];
  for (const chatId of chatIds) {
    const ids = {
      ...{ organizations: organizationId, channels: channelId, members: ownerId, keys: key.id, templates: templateId },
      ...{ chats: chatId, messages: messageIds[chatId] ?? "", events: eventId, webhooks: webhookId },
    };
    answers.push(...(await answersTo(all, readsBelow("/api/v1", ids))));
    answers.push(...(await answersTo(admin, readsBelow("/admin/v1", ids))));
  }
  answers.push(...(await answersTo(all, [`/stats/history?of=${ownerId}`, `/stats/history?of=${channelId}`])));
  answers.push(...(await answersTo(all, [`/webhooks/${webhooks[1]}/attempts`])));
  const told = JSON.stringify([await streams[0]?.events(2), await streams[1]?.events(2)]);
  for (const stream of streams) await stream.close();
  const frames = JSON.stringify(await page.rest());

  // Each of them has something to search in.
  expect(told).toContain("note.created");
  expect(frames).toContain("Hi from us");
  expect(logged.join()).toContain("/notes");
  for (const route of [
    "/chats ",
    "/export ",
    "/events?types=note.* ",
    "/audit ",
    "/attempts ",
    "/chats?search=canary ",
  ])
    expect(
      answers.filter((answer) => answer.startsWith("200") && answer.includes(route)).length,
      route,
    ).toBeGreaterThan(0);
  expect((await all("GET", "/export")).text).toContain(CANARY);
  const calls = webhookCalls.map(({ url, headers, text }) => `${url} ${JSON.stringify([...headers])} ${text}`);
  const stored = await Promise.all(
    [
      ...[env.ORGANIZATIONS.getByName(organizationId), env.KEYS.getByName(key.id), env.CHANNELS.getByName(telegramId)],
      ...webhooks.map((id) => env.WEBHOOKS.getByName(id)),
    ].map((object) => storedBy(object)),
  );
  const left = [...answers, told, frames, ...calls, ...networkCalls, ...logged, ...stored, await directoryText()];
  expect(left.filter((text) => text.includes(CANARY))).toEqual([]);
  await page.close();
});
