import { setTimeout as delay } from "node:timers/promises";
import { PERMISSIONS } from "../../src/model/permission.ts";
import { type Endpoint, webhookReceiver } from "../support/webhook-receiver.ts";
import { createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { type Answer, wanted, worldAt } from "../support/world/world.ts";
import { type Case, type CaseTurn, type Goal, parley, same, type Traffic } from "./cases.ts";
import type { Measured } from "./driver.ts";
import { followStream } from "./event-stream.ts";
import type { Place } from "./fixtures.ts";
import { SEND, SEND_ALONE } from "./message-cases.ts";
import { authorized, post } from "./request.ts";
import { quantile } from "./statistics.ts";

/** Each message of these chats is an event. A chat sends its events one after the other. */
const CHATS = 50;
const EVERY_MS = 10;
const PATIENCE_MS = 60_000;
const BODY = { content: "Hello" };
const PACE = { perSecond: 500, concurrency: 100 };

const BESIDE: Goal = { to: SEND, of: "rate", must: 0.8 };
const SOON: Goal = { to: SEND_ALONE, of: "p50", must: 3 };

/** Longer than the pause between two rings of a doorbell, so that an event that comes alone waits for none. */
const PAUSE_MS = 150;

/** Measures sends that come alone, or one every 10 ms. */
type Pace = "alone" | "paced";

/** A latency of an event is the time from the 201 of the send to the receiver's request or the stream's frame. */
export const eventCases: Case[] = [
  parley("send, with a webhook beside it", { goal: BESIDE }, (place) => sendBeside(place, {})),
  parley("send, with a webhook beside it at 500 a second", { goal: BESIDE }, (place) => sendBeside(place, PACE)),
  { ...latency("event to a webhook, alone", { goal: SOON }, (place) => toWebhook(place, "alone")), connections: 1 },
  { ...latency("event to a stream, alone", { goal: SOON }, (place) => toStream(place, "alone")), connections: 1 },
  latency("event to a webhook, 100 sends a second", {}, (place) => toWebhook(place, "paced")),
  latency("event to a stream, 100 sends a second", {}, (place) => toStream(place, "paced")),
];

/** A case that warms itself up. */
function latency(name: string, compared: Pick<Case, "goal">, make: Case["make"]): Case {
  return { ...parley(name, compared, make), warm: false };
}

/** The data of a case: some chats, a key with all permissions, and a webhook if a pace is given. */
interface Ground {
  adminToken: string;
  secret: string;
  chatIds: string[];
  webhook: { id: string; endpoint: Endpoint } | null;
}

async function groundOf(place: Place, chats: number, pace: object | null): Promise<Ground> {
  const organization = await createOrganization(place);
  const { secret } = await createKey(organization, { permissions: [...PERMISSIONS] });
  const webhook = pace ? await webhookOf(place, organization.id, pace) : null;
  const channel = await createChannel(organization);
  const chatIds: string[] = [];
  while (chatIds.length < chats) chatIds.push(await place.chat(channel, 0));
  return { adminToken: place.adminToken, secret, chatIds, webhook };
}

/** A webhook that is disabled between turns, so that its events cost the other cases nothing. */
async function webhookOf(
  { call, adminToken }: Place,
  organizationId: string,
  pace: object,
): Promise<Ground["webhook"]> {
  const receivers = await webhookReceiver();
  const endpoint = receivers.endpoint();
  const asked = { url: endpoint.url, types: ["message.created"], ...pace };
  const { webhook } = wanted(
    201,
    await call(adminToken, "POST", `/admin/v1/organizations/${organizationId}/webhooks`, asked),
  );
  await call(adminToken, "POST", `/admin/v1/webhooks/${webhook.id}/disable`);
  return { id: webhook.id, endpoint };
}

/** As the case `send`, while a webhook gets the events at its pace. @param pace the settings; by default 50 a second */
async function sendBeside(place: Place, pace: object): Promise<Traffic> {
  const ground = await groundOf(place, 1, pace);
  const [chatId] = ground.chatIds;
  const path = `/api/v1/chats/${chatId}/messages`;
  const traffic = same(post(path, JSON.stringify(BODY), authorized(ground.secret)), 201);
  return {
    ...traffic,
    run: async (url, { drive }) => {
      const arrivals = await openWebhook(url, ground);
      const called = new Promise<null>((resolve) => {
        arrivals.onArrival = () => resolve(null);
      });
      const measured = await drive();
      // A short turn can end before the first call arrives.
      const silent = delay(PATIENCE_MS).then(() => "The webhook was not called");
      const unexpected = measured.unexpected ?? (await Promise.race([called, silent]));
      await arrivals.close();
      return { ...measured, unexpected };
    },
  };
}

async function toWebhook(place: Place, pace: Pace): Promise<Traffic> {
  const ground = await groundOf(place, pace === "alone" ? 1 : CHATS, PACE);
  return timed(ground, pace, openWebhook);
}

async function toStream(place: Place, pace: Pace): Promise<Traffic> {
  const ground = await groundOf(place, pace === "alone" ? 1 : CHATS, null);
  return timed(ground, pace, openStream);
}

/** The times at which events of messages came, as of `performance.now()`. */
interface Arrivals {
  /** By the message's id. */
  came: Map<string, number>;
  /** Runs for each. */
  onArrival: () => void;
  close(): Promise<void>;
}

function timed(ground: Ground, pace: Pace, open: (url: URL, ground: Ground) => Promise<Arrivals>): Traffic {
  const run = async (url: URL, { seconds }: CaseTurn) => {
    const arrivals = await open(url, ground);
    const measured = await measure(url, ground, arrivals, { pace, seconds });
    await arrivals.close();
    return measured;
  };
  return { ...same("", 201), run };
}

/** Enables the webhook, and waits until it gets the events of each chat. */
async function openWebhook(url: URL, ground: Ground): Promise<Arrivals> {
  const { webhook, adminToken } = ground;
  if (!webhook) throw new Error("the case has no webhook");
  const { call } = worldAt(url, adminToken);
  const path = `/admin/v1/webhooks/${webhook.id}`;
  const arrivals: Arrivals = {
    came: new Map(),
    onArrival: () => {},
    close: async () => void (await call(adminToken, "POST", `${path}/disable`)),
  };
  webhook.endpoint.onCall = ({ event, at }) => {
    arrivals.came.set(event.data.messageId, at);
    arrivals.onArrival();
  };
  wanted(200, await call(adminToken, "POST", `${path}/enable`, { from: "now" }));
  await warmUp(url, ground, arrivals);
  return arrivals;
}

/** Opens a stream, and waits until the chats know that somebody listens: before that they report every 2 seconds. */
async function openStream(url: URL, ground: Ground): Promise<Arrivals> {
  const stop = new AbortController();
  const arrivals: Arrivals = { came: new Map(), onArrival: () => {}, close: async () => stop.abort() };
  await followStream(url, ground.secret, stop.signal, (frame) => {
    const [, id] = /"messageId":"(\w+)"/.exec(frame) ?? [];
    if (id) arrivals.came.set(id, performance.now());
    arrivals.onArrival();
  });
  await warmUp(url, ground, arrivals);
  return arrivals;
}

async function warmUp(url: URL, { secret, chatIds }: Ground, arrivals: Arrivals): Promise<void> {
  const ids = await Promise.all(chatIds.map(async (chatId) => (await send(url, secret, chatId)).id));
  await allCame(arrivals, ids);
}

async function measure(
  url: URL,
  { secret, chatIds }: Ground,
  arrivals: Arrivals,
  { pace, seconds }: { pace: Pace; seconds: number },
): Promise<Measured> {
  const answered = new Map<string, number>();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const end = start + seconds * 1_000;
  const sends: Promise<void>[] = [];
  for (let n = 0; n === 0 || performance.now() < end; n++) {
    const sent = send(url, secret, chatIds[n % chatIds.length] ?? "").then(({ id, at }) => void answered.set(id, at));
    sends.push(sent);
    if (pace === "alone") {
      await sent;
      await allCame(arrivals, [...answered.keys()].slice(-1));
      await delay(PAUSE_MS);
    } else await delay(Math.max(0, start + (n + 1) * EVERY_MS - performance.now()));
  }
  await Promise.all(sends);
  const took = (performance.now() - start) / 1_000;
  const isComplete = await allCame(arrivals, [...answered.keys()]);
  const { user, system } = process.cpuUsage(cpu);
  const latencies = [...answered].flatMap(([id, at]) => {
    const came = arrivals.came.get(id);
    // An event can come while the driver reads the 201.
    return came === undefined ? [] : [Math.max(0, came - at)];
  });
  return {
    requests: sends.length,
    seconds: took,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    driverShare: (user + system) / 1e6 / took,
    unexpected: isComplete ? null : `${sends.length - latencies.length} events did not come`,
  };
}

/** Sends a message. Returns its id, and when its 201 came. */
async function send(url: URL, secret: string, chatId: string): Promise<{ id: string; at: number }> {
  const response = await fetch(new URL(`/api/v1/chats/${chatId}/messages`, url), {
    method: "POST",
    headers: authorized(secret),
    body: JSON.stringify(BODY),
  });
  const at = performance.now();
  const body = (await response.json()) as Answer["body"];
  return { id: wanted(201, { status: response.status, headers: response.headers, body }).message.id, at };
}

/** Resolves when the events of all these messages came. @returns false if that took too long */
function allCame(arrivals: Arrivals, ids: string[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const left = new Set(ids);
  const check = () => {
    for (const id of left) if (arrivals.came.has(id)) left.delete(id);
    if (left.size === 0) resolve(true);
  };
  const timer = setTimeout(() => resolve(false), PATIENCE_MS);
  arrivals.onArrival = check;
  check();
  return promise.finally(() => clearTimeout(timer));
}
