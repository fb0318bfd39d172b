import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { OWN_PAGE, signIn } from "../../support/console.ts";
import { call, expectError, send } from "../../support/harness.ts";
import { neverRing } from "../../support/timers.ts";
import { until, untilLength } from "../../support/until.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { nameOf, newListenerWithChat, openStream, report, Stream, untilDoorbells } from "./fixtures.ts";

stopTheClock();

/** Opens a doorbell at an organization's object. @returns its socket and what it heard; null if it was refused */
async function doorbell(organizationId: string, query: Record<string, string>) {
  const { status, webSocket } = await env.ORGANIZATIONS.getByName(organizationId).fetch(
    `https://organization/doorbell?${new URLSearchParams(query).toString()}`,
    { headers: { Upgrade: "websocket" } },
  );
  if (status === 409) return null;
  const heard: string[] = [];
  let closed: number | null = null;
  webSocket?.addEventListener("message", ({ data }) => heard.push(String(data)));
  webSocket?.addEventListener("close", ({ code }) => {
    closed = code;
    webSocket.close();
  });
  webSocket?.accept();
  return { heard, closed: () => closed };
}

type Opened = Awaited<ReturnType<typeof doorbell>>;

async function untilClosed(opened: Opened | undefined, code: number): Promise<void> {
  await until(
    `the doorbell is closed with ${code}`,
    () => opened?.closed(),
    (seen) => seen === code,
  );
}

/** Waits until a doorbell has heard this many rings. */
async function untilHeard(opened: Opened | undefined, count: number): Promise<void> {
  await untilLength(opened?.heard ?? [], count);
}

/** Asks for a stream of the console. */
function requestSessionStream(organizationId: string, cookie: string): Promise<Response> {
  const path = `https://parley.test/console/api/organizations/${organizationId}/events/stream`;
  return exports.default.fetch(path, { headers: { ...OWN_PAGE, Cookie: cookie } });
}

test("streams of keys and of sessions have ceilings of their own", async () => {
  const { organizationId, secret } = await newListenerWithChat();
  for (let count = 0; count < 10; count++)
    expect(await doorbell(organizationId, { stream: `k${count}` })).not.toBeNull();
  expect(await doorbell(organizationId, { stream: "k10" })).toBeNull();
  for (let count = 0; count < 60; count++) {
    expect(await doorbell(organizationId, { stream: `s${count}`, session: `session${count}` })).not.toBeNull();
  }
  expect(await doorbell(organizationId, { stream: "s60", session: "session60" })).toBeNull();
  expect(await doorbell(organizationId, { stream: "k10" })).toBeNull();
  const path = "/api/v1/events/stream";
  const refused = await call("GET", path, { headers: { Authorization: `Bearer ${secret}` } });
  expectError(refused, 409, "stream_limit", /10 open streams/);
  const ofConsole = await requestSessionStream(organizationId, await signIn());
  expect([ofConsole.status, await ofConsole.text()]).toEqual([
    409,
    expect.stringMatching(/60 open streams of the console/),
  ]);
});

test("at the ceiling, and beyond six of its own, a session ends its oldest stream, and no other one's", async () => {
  const { organizationId } = await newListenerWithChat();
  const open = async (session: string) => {
    const opened = await doorbell(organizationId, { stream: crypto.randomUUID(), session });
    vi.setSystemTime(Date.now() + 1);
    return opened;
  };
  const own: Opened[] = [];
  while (own.length < 6) own.push(await open("own"));
  const others: Opened[] = [];
  while (others.length < 53) others.push(await open(`other${others.length}`));
  const seventh = await open("own");
  await untilClosed(own[0], 4001);
  others.push(await open("other53"));
  expect(await open("new")).toBeNull();
  expect(await open("other7")).not.toBeNull();
  await untilClosed(others[7], 4001);
  const isClosed = [...own, ...others, seventh].map((each) => each?.closed() ?? null);
  expect(isClosed.filter((code) => code !== null)).toEqual([4001, 4001]);
});

test("beyond twelve of its own, a member ends its oldest stream, whatever sessions it has", async () => {
  const { organizationId } = await newListenerWithChat();
  const open = async (member: string, session: string) => {
    const opened = await doorbell(organizationId, { stream: crypto.randomUUID(), session, member });
    vi.setSystemTime(Date.now() + 1);
    return opened;
  };
  const own: Opened[] = [];
  while (own.length < 12) own.push(await open("mbr_1", `session${own.length}`));
  const other = await open("mbr_2", "of another");
  own.push(await open("mbr_1", "session12"));
  await untilClosed(own[0], 4001);
  expect([...own, other].map((each) => each?.closed() ?? null).filter((code) => code !== null)).toEqual([4001]);
});

test("a stream whose place a newer one took ends, and opens no doorbell again", async () => {
  // Nobody reads the probes of the other streams.
  neverRing(2_000);
  const { organizationId } = await newListenerWithChat();
  const cookie = await signIn();
  const streams: Stream[] = [];
  while (streams.length < 7) {
    const stream = new Stream(await requestSessionStream(organizationId, cookie));
    expect(await stream.next()).toMatchObject({ retry: "2000" });
    streams.push(stream);
    vi.setSystemTime(Date.now() + 1);
  }
  expect(await streams[0]?.rest()).toEqual([]);
  await untilDoorbells(organizationId, 6);
  for (const stream of streams.slice(1)) await stream.close();
});

test("a doorbell that always fails holds up no other, no later ring and no new stream", async () => {
  const { api, organizationId, chat } = await newListenerWithChat();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const opened = [];
  for (let count = 0; count < 3; count++) opened.push(await doorbell(organizationId, { stream: `k${count}` }));
  const [before, bad, after] = opened;
  const broken = vi.fn(() => {
    throw new Error("The socket is broken");
  });
  await runInDurableObject(object, (_object, state) => {
    for (const socket of state.getWebSockets()) {
      if ((socket.deserializeAttachment() as { id: string }).id !== "k1") continue;
      socket.send = broken;
      socket.deserializeAttachment = broken;
    }
  });
  for (let count = 1; count <= 2; count++) {
    await send(api, chat.id);
    await report(chat.id);
    for (const each of [before, after]) await untilHeard(each, count);
  }
  expect(bad?.heard).toEqual([]);
  expect(broken.mock.calls.length).toBeGreaterThanOrEqual(2);
  // Its place is free again.
  for (let count = 3; count <= 10; count++) {
    expect(await doorbell(organizationId, { stream: `k${count}` })).not.toBeNull();
  }
  await untilClosed(bad, 1000);
});

test("rings go on after one that failed as a whole", async () => {
  const { api, organizationId, chat } = await newListenerWithChat();
  const listener = await doorbell(organizationId, { stream: "k" });
  const wait = vi.spyOn(scheduler, "wait").mockRejectedValueOnce(new Error("A timer can't be set"));
  const ring = async () => {
    await send(api, chat.id);
    await report(chat.id);
  };
  await ring();
  await untilHeard(listener, 1);
  await until("the timer has failed", () => wait.mock.calls.length);
  await ring();
  await untilHeard(listener, 2);
});

test("sessions are rung at most once a second, and keys ten times", async () => {
  const { api, organizationId, chat } = await newListenerWithChat();
  const ofKey = await doorbell(organizationId, { stream: "k" });
  const ofSession = await doorbell(organizationId, { stream: "s", session: "one" });
  const waits = vi.spyOn(scheduler, "wait");
  for (let count = 0; count < 3; count++) {
    await send(api, chat.id);
    await report(chat.id);
    await untilHeard(ofKey, count + 1);
  }
  await until(
    "the session has heard of the last event",
    () => ofSession?.heard.at(-1),
    (number) => number === ofKey?.heard.at(-1),
  );
  const spent = (ms: number) => waits.mock.calls.filter(([each]) => each === ms).length;
  // One more than rings were needed: each wait is followed by a look for more.
  expect(spent(1_000)).toBe(ofSession?.heard.length);
  expect(ofKey?.heard).toEqual(["2", "3", "4"]);
});

test("a key's stream and a session's get the same events", async () => {
  const { api, secret, organizationId, chat } = await newListenerWithChat();
  const ofSession = new Stream(await requestSessionStream(organizationId, await signIn()));
  const ofKey = await openStream(secret);
  await send(api, chat.id);
  await report(chat.id);
  for (const stream of [ofKey, ofSession]) {
    expect((await stream.events(1)).map(nameOf)).toEqual([`${chat.id} 2 message.created`]);
    await stream.close();
  }
});

test("a session's stream tells who writes", async () => {
  // A stream that is being probed drops what somebody writes.
  neverRing(2_000);
  const { api, organizationId, chat } = await newListenerWithChat();
  const cookie = await signIn();
  const stream = new Stream(await requestSessionStream(organizationId, cookie));
  await stream.next();
  await api("POST", `/chats/${chat.id}/typing`);
  expect((await stream.next())?.data).toMatchObject({ type: "chat.typing", chatId: chat.id });
  await stream.close();
});
