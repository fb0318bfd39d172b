import { expect, test } from "vitest";
import { admin, call, expectError, newChat, send } from "../../support/harness.ts";
import { hurry, hurryLater } from "../../support/hurry.ts";
import { neverRing } from "../../support/timers.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import {
  nameOf,
  newListener,
  newListenerWithChat,
  openDoorbells,
  openStream,
  pageOf,
  report,
  requestStream,
  type Stream,
  untilDoorbells,
} from "./fixtures.ts";

stopTheClock();

test("a stream begins now, with a comment that has a cursor, and sends each event with its cursor, type and JSON", async () => {
  // A probe of the client would be in a frame.
  neverRing(2_000);
  const { api, secret, chat } = await newListenerWithChat();
  const stream = await openStream(secret);
  expect(Object.fromEntries(stream.response.headers)).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-request-id": expect.any(String),
    "x-ratelimit-limit": "300",
  });
  const first = await stream.next();
  const { cursor } = await pageOf(api, "from=now");
  expect(first).toEqual({ retry: "2000", "": "", id: cursor });
  await send(api, chat.id);
  await report(chat.id);
  const frame = await stream.next();
  const [{ cursor: after, ...event }] = (await pageOf(api, "types=message.created")).events;
  expect(frame).toEqual({ id: after, event: "message.created", data: event });
  await stream.close();
});

test("a stream continues after Last-Event-ID or `after`, in the middle of a burst too", async () => {
  const { api, secret, chat } = await newListenerWithChat();
  for (let count = 0; count < 3; count++) await send(api, chat.id);
  await report(chat.id);
  const { events } = await pageOf(api);
  for (const [index, { cursor }] of events.entries()) {
    const later = events.slice(index + 1).map(nameOf);
    for (const stream of [
      await openStream(secret, "", { "Last-Event-ID": cursor }),
      await openStream(secret, `after=${cursor}`),
    ]) {
      expect((await stream.events(later.length)).map(nameOf)).toEqual(later);
      await stream.close();
    }
  }
});

test("a browser that connects again sends `after` too, and Last-Event-ID comes first", async () => {
  const { api, secret, chat } = await newListenerWithChat();
  await send(api, chat.id);
  await report(chat.id);
  const [first, second] = (await pageOf(api)).events;
  await send(api, chat.id);
  await report(chat.id);
  const stream = await openStream(secret, `after=${first.cursor}`, { "Last-Event-ID": second.cursor });
  expect((await stream.events(1)).map(nameOf)).toEqual([`${chat.id} 3 message.created`]);
  await stream.close();
});

test("an empty Last-Event-ID counts as absent", async () => {
  const { api, secret, chat } = await newListenerWithChat();
  await send(api, chat.id);
  await report(chat.id);
  const [first] = (await pageOf(api)).events;
  const stream = await openStream(secret, `after=${first.cursor}`, { "Last-Event-ID": "" });
  expect((await stream.events(1)).map(nameOf)).toEqual([`${chat.id} 2 message.created`]);
  await stream.close();
});

test("a stream that is cut again and again sends each event at least once and in order, and each once by its cursors", async () => {
  const { api, secret, chat, channelId } = await newListenerWithChat();
  const other = await newChat(api, channelId);
  const { cursor } = await pageOf(api, "from=now");
  const seen: string[] = [];
  let lastId = cursor;
  for (let turn = 0; turn < 4; turn++) {
    for (const each of [chat, other]) {
      await send(api, each.id);
      await send(api, each.id);
      await report(each.id);
    }
    const stream = await openStream(secret, "types=message.created", { "Last-Event-ID": lastId });
    // Cut after three events, so that some are left for the next stream.
    for (let count = 0; count < 3; ) {
      const frame = await stream.next();
      if (frame?.id) lastId = frame.id;
      if (!frame?.data) continue;
      seen.push(nameOf(frame.data));
      count++;
    }
    await stream.close();
  }
  const rest = await openStream(secret, "types=message.created", { "Last-Event-ID": lastId });
  seen.push(...(await rest.events(4)).map(nameOf));
  await rest.close();
  expect(seen).toEqual((await pageOf(api, `after=${cursor}&types=message.created&limit=100`)).events.map(nameOf));
  expect(seen).toHaveLength(16);
});

test("a stream without events gets a comment every 20 seconds", async () => {
  const { secret } = await newListenerWithChat();
  const stream = await openStream(secret);
  const { id } = (await stream.next()) ?? {};
  hurry(20_000);
  // Ends the wait that began before.
  await stream.close();
  const fast = await openStream(secret);
  await fast.next();
  const start = Date.now();
  expect([await fast.next(), await fast.next()]).toEqual([
    { "": "", id },
    { "": "", id },
  ]);
  // The reads of the feed, as often as the comments, move the date too.
  expect(Date.now() - start).toBeGreaterThanOrEqual(40_000);
  expect(Date.now() - start).toBeLessThan(60_000);
  await fast.close();
});

test("an eleventh stream of an organization is refused until one ends; other organizations have their own", async () => {
  const { organizationId, secret } = await newListenerWithChat();
  const streams: Stream[] = [];
  while (streams.length < 10) streams.push(await openRead(secret));
  const refused = await call("GET", "/api/v1/events/stream", { headers: { Authorization: `Bearer ${secret}` } });
  expectError(refused, 409, "stream_limit");
  await (await openStream((await newListener()).secret)).close();
  // Although nothing happens, its client is missed within seconds.
  await streams[0]?.close();
  await untilDoorbells(organizationId, 9);
  streams[0] = await openRead(secret);
  for (const stream of streams) await stream.close();
});

/** Opens a stream whose client reads all that comes. */
async function openRead(secret: string): Promise<Stream> {
  const stream = await openStream(secret);
  void stream.events(Number.POSITIVE_INFINITY).catch(() => {});
  return stream;
}

test("a stream whose client reads nothing gives up its place, and goes on when the client reads again", async () => {
  const { api, organizationId, secret, chat } = await newListenerWithChat();
  let isHeld = false;
  // The checks of the key, every five seconds, are not hurried: their answers have deadlines.
  hurry(2_000, (ms) => isHeld || ms > 4_000);
  const stream = await openStream(secret);
  await untilDoorbells(organizationId, 0);
  // From here on, the stream does not end on its own.
  isHeld = true;
  await send(api, chat.id);
  await report(chat.id);
  expect((await stream.events(1)).map(nameOf)).toEqual([`${chat.id} 2 message.created`]);
  await untilDoorbells(organizationId, 1);
  await stream.close();
});

test("polls are not counted as streams", async () => {
  const { api, secret, organizationId, chat } = await newListenerWithChat();
  const polls = Array.from({ length: 11 }, () => pageOf(api, "from=now&wait=30"));
  await untilDoorbells(organizationId, 11);
  await (await openStream(secret)).close();
  await send(api, chat.id);
  await report(chat.id);
  await Promise.all(polls);
});

test("a stream ends after its key was revoked", async () => {
  const { secret, keyId } = await newListenerWithChat();
  const goOn = hurryLater();
  const stream = await openStream(secret);
  await stream.next();
  expect((await admin("DELETE", `/keys/${keyId}`)).status).toBe(200);
  goOn();
  expect(await stream.rest()).toEqual([]);
  expect((await requestStream(secret)).status).toBe(401);
});

test("a stream after an expired cursor is a 410, and leaves no doorbell", async () => {
  const [ours, theirs] = [await newListenerWithChat(), await newListenerWithChat()];
  const { cursor } = await pageOf(theirs.api, "from=now");
  const headers = { Authorization: `Bearer ${ours.secret}` };
  const path = "/api/v1/events/stream";
  expectError(await call("GET", `${path}?after=${cursor}`, { headers }), 410, "cursor_expired");
  expectError(await call("GET", path, { headers: { ...headers, "Last-Event-ID": cursor } }), 410, "cursor_expired");
  await untilDoorbells(ours.organizationId, 0);
});

test("HEAD answers like a stream, and opens none", async () => {
  const { secret, organizationId } = await newListenerWithChat();
  const headers = { Authorization: `Bearer ${secret}` };
  const { status, headers: answered } = await call("HEAD", "/api/v1/events/stream", { headers });
  expect([status, answered.get("Content-Type")]).toEqual([200, "text/event-stream"]);
  expect(await openDoorbells(organizationId)).toBe(0);
});
