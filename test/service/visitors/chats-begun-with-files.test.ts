import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { ChatParts } from "../../../src/chats/object/chat-parts.ts";
import { runAlarm } from "../../support/alarms.ts";
import { breakObject } from "../../support/faults.ts";
import { type Answer, type Client, client, expectError, newChat, newKey } from "../../support/harness.ts";
import { asUser, objectOf, signUser, visit } from "../../support/sockets.ts";
import { until } from "../../support/until.ts";
import { alarmOf, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { HOUR, newPlace } from "./uploading.ts";

stopTheClock();

type Place = Awaited<ReturnType<typeof newPlace>> & { writer: Client };

test("a chat that began with a file and got no message goes with its last file", async () => {
  const { upload, chats, channelId, token } = await newPlace();
  await upload();
  const object = await objectOf(channelId, token);
  pass(12 * HOUR);
  await upload();
  pass(12 * HOUR + 1_000);
  await runAlarm(object);
  expect(await chats()).toHaveLength(1);
  pass(12 * HOUR);
  await runAlarm(object);
  expect(await chats()).toEqual([]);
  expect((await env.MEDIA.list({ prefix: "cht_" })).objects.filter(({ key }) => key.includes(channelId))).toEqual([]);
  // The visitor begins again.
  pass(HOUR);
  expect((await upload()).status).toBe(201);
  expect(await chats()).toHaveLength(1);
});

test.for([25, 60])(
  "a chat of a file alone whose object is lost before its first alarm is gone after %i hours",
  async (hours) => {
    const { upload, chats, channelId, token } = await newPlace();
    await upload();
    const object = await objectOf(channelId, token);
    await evictDurableObject(object);
    pass(hours * HOUR);
    expect(await alarmOf(object)).toBeLessThan(Date.now());
    await runAlarm(object);
    expect(await chats()).toEqual([]);
  },
);

test("a chat whose object is lost before it could delete itself does so at the next alarm", async () => {
  const { upload, chats, channelId, token } = await newPlace();
  await upload();
  const object = await objectOf(channelId, token);
  await runInDurableObject(object, (_object, { storage }) => storage.sql.exec("delete from files"));
  await evictDurableObject(object);
  await runInDurableObject(object, (chat) => (chat as unknown as { parts: ChatParts }).parts.due.standBy());
  expect(await alarmOf(object)).toBe(Date.now());
  await runAlarm(object);
  expect(await chats()).toEqual([]);
});

test("a chat stays if a message came, or if the company had created it", async () => {
  const { upload, channelId, token, chats, api, secret } = await newPlace();
  await upload();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  await newChat(api, channelId, "ada");
  await upload({ claim: asUser("ada", await signUser("ada", secret))[1] as string });
  pass(25 * HOUR);
  for (const { id } of await chats()) await runAlarm(env.CHATS.getByName(id));
  expect(await chats()).toHaveLength(2);
});

test.for<[name: string, act: (place: Place, chatId: string) => Promise<Answer>]>([
  ["POST /chats", ({ api, channelId }) => api("POST", "/chats", { channelId, contact: { address: "ada" } })],
  ["a name", ({ api }, id) => api("PATCH", `/chats/${id}`, { contact: { name: "Ada" } })],
  ["metadata", ({ api }, id) => api("PATCH", `/chats/${id}`, { metadata: { order: "4711" } })],
  ["an assignee", ({ api, ownerId }, id) => api("PATCH", `/chats/${id}`, { assigneeId: ownerId })],
  ["a note", ({ writer }, id) => writer("POST", `/chats/${id}/notes`, { content: "Call her" })],
])("a chat that began with a file stays once the company gave it %s", async ([, act]) => {
  const place = await newPlace();
  const { secret } = await newKey(place.organizationId, { permissions: ["notes:write"] });
  const claim = asUser("ada", await signUser("ada", place.secret))[1] as string;
  await place.upload({ claim });
  const [{ id }] = await place.chats();
  expect((await act({ ...place, writer: client(secret) }, id)).status).toBeLessThan(300);
  await evictDurableObject(env.CHATS.getByName(id));
  pass(25 * HOUR);
  await runAlarm(env.CHATS.getByName(id));
  expect(await place.chats()).toHaveLength(1);
});

test("a chat that began with a file stays once the visitor has said who it is", async () => {
  const { upload, channelId, token, chats } = await newPlace();
  await upload();
  const { page } = await visit(channelId, { token });
  page.send({ type: "contact", name: "Ada" });
  await until(
    "the chat has the name",
    async () => (await chats())[0].contact.name,
    (name) => name === "Ada",
  );
  pass(25 * HOUR);
  await runAlarm(await objectOf(channelId, token));
  expect(await chats()).toHaveLength(1);
});

test("a chat that began with a file goes although its organization's object made sure of its adoption", async () => {
  const { upload, channelId, token, chats, organizationId } = await newPlace();
  await upload();
  pass(HOUR);
  await runAlarm(env.ORGANIZATIONS.getByName(organizationId));
  pass(25 * HOUR);
  await runAlarm(await objectOf(channelId, token));
  expect(await chats()).toEqual([]);
});

test("POST /chats for a chat that has just deleted itself is a 503, and then makes a chat that stays", async () => {
  const { upload, secret, chats, api, channelId, organizationId } = await newPlace();
  await upload({ claim: asUser("ada", await signUser("ada", secret))[1] as string });
  const [{ id }] = await chats();
  breakObject("ORGANIZATIONS", organizationId, "chatGone");
  pass(25 * HOUR);
  await runAlarm(env.CHATS.getByName(id));
  const asked = () => api("POST", "/chats", { channelId, contact: { address: "ada" } });
  expectError(await asked(), 503, "unavailable");
  vi.restoreAllMocks();
  pass(61_000);
  await runAlarm(env.CHATS.getByName(id));
  expect((await asked()).status).toBe(201);
  expect(await chats()).toHaveLength(1);
});
