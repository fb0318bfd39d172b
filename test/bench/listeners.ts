import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { PERMISSIONS } from "../../src/model/permission.ts";
import { buildWeb } from "../../src/web/build.ts";
import { launchBrowser } from "../browser/browser.ts";
import { type WebhookReceiver, webhookReceiver } from "../support/webhook-receiver.ts";
import {
  createChannel,
  createChat,
  createKey,
  createOrganization,
  type Organization,
} from "../support/world/factories.ts";
import { hashOf } from "../support/world/identity.ts";
import { lastingPort } from "../support/world/lasting-port.ts";
import { wanted } from "../support/world/world.ts";
import { type RunSettings, withSetup } from "./bench.ts";
import { signIn } from "./console.ts";
import { Place } from "./fixtures.ts";
import { openInspector } from "./inspector.ts";
import { heldBy, residentOf } from "./memory.ts";
import { authorized } from "./request.ts";
import { type Server, withServer } from "./server.ts";
import { shown } from "./sizes.ts";
import { openSockets } from "./socket-cases.ts";
import { quantile } from "./statistics.ts";

/** Who listens to one organization, and how much is sent in its chats. */
export interface ListenersSizes {
  visitors: number;
  streams: number;
  webhooks: number;
  consoles: number;
  perSecond: number;
  seconds: number;
}

export const FULL_LISTENERS = { visitors: 1_000, streams: 10, webhooks: 3, consoles: 2, perSecond: 100 };

/** Milliseconds from the 201 of a send to a listener; for `sends`, from the request to the 201. */
interface Latencies {
  count: number;
  p50: number;
  p99: number;
}

/** The memory of the service, in MB. */
interface ServiceMemory {
  /** What had been opened by then. */
  with: string;
  /** Of the runtime's process. */
  resident: number;
  /** What the isolate that takes the requests holds of JavaScript and of buffers, garbage included. */
  worker: number;
  /** The same of the isolate with all objects. */
  objects: number;
}

export interface ListenersMeasurement {
  sizes: ListenersSizes;
  latencies: Record<"sends" | "sockets" | "streams" | "webhooks" | "consoles", Latencies>;
  memory: ServiceMemory[];
  /** JavaScript on the heap of each console's page in the end, in MB. */
  pages: number[];
  /** What was not answered, or did not come. */
  faults: string[];
}

const PATIENCE_MS = 60_000;
/** How many calls a second all webhooks of a host may make: `HOST_CEILING` in `src/webhooks/host-ceiling.ts`. */
const CALLS_OF_A_HOST = 500;
/** The first of each that is measured: before it, chats learn that somebody listens. */
const WARM_UP_SECONDS = 3;
/** The width of the table's first column. */
const NAME_WIDTH = 20;

/** When each numbered message came to a listener. A console draws only what is in view. */
type Arrivals = Map<number, number>;

/** Measures how soon all kinds of listeners hear of messages that are sent at one pace, and what they cost in memory. */
export async function measureListeners(sizes: ListenersSizes, settings: RunSettings): Promise<ListenersMeasurement> {
  const folder = await mkdtemp(join(tmpdir(), "parley-console-"));
  await buildWeb(folder);
  const [browser, receiver] = [await launchBrowser(), await webhookReceiver()];
  try {
    const inspector = await lastingPort();
    return await withSetup(settings, { minify: true }, (setup) =>
      withServer(setup, { counted: false, showErrors: true, inspector }, async (server) => {
        const place = new Place(server, setup.secrets.ADMIN_TOKEN);
        await place.migrate();
        return measure({ place, server, inspector, browser, folder, receiver }, sizes, settings.log);
      }),
    );
  } finally {
    await Promise.all([browser.close(), receiver.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

interface Ground {
  place: Place;
  server: Server;
  /** The port of the runtime's inspector. */
  inspector: number;
  browser: Browser;
  /** The console's files. */
  folder: string;
  receiver: WebhookReceiver;
}

async function measure(ground: Ground, sizes: ListenersSizes, log: RunSettings["log"]): Promise<ListenersMeasurement> {
  const { place, server, inspector } = ground;
  const url = server.url("parley");
  const memory: ServiceMemory[] = [];
  const [front, back] = [await openInspector("parley", inspector), await openInspector("parley-objects", inspector)];
  const weigh = async (what: string) => {
    const [resident, worker, objects] = await Promise.all([residentOf(server.pid), heldBy(front), heldBy(back)]);
    memory.push({ with: what, resident, worker, objects });
  };
  const organization = await createOrganization(place);
  const { secret } = await createKey(organization, { permissions: [...PERMISSIONS] });
  log(`Making ${shown(sizes.visitors)} chats`);
  const { chatIds, sockets } = await openVisitors(url, organization, sizes.visitors, () => weigh("the chats"));
  await weigh(`${shown(sizes.visitors)} sockets`);
  const stop = new AbortController();
  const streams = await Promise.all(Array.from({ length: sizes.streams }, () => openStream(url, secret, stop.signal)));
  await weigh(`${sizes.streams} streams`);
  const webhooks = await openWebhooks(ground, organization.id, sizes);
  await weigh(`${sizes.webhooks} webhooks`);
  const pages: Page[] = [];
  for (let n = 0; n < sizes.consoles; n++) pages.push(await openConsole(ground, organization.id));
  await weigh(`${sizes.consoles} consoles`);

  log(`Sending ${sizes.perSecond} a second for ${sizes.seconds} s`);
  const sent = await sendAtPace(url, { secret, chatIds }, sizes);
  const all = [sockets, ...streams, ...webhooks];
  const missing = await missingAfter(all, sent.answered);
  await weigh("all that was sent");
  const shownAt = await Promise.all(pages.map(arrivalsOf));
  const heaps = await Promise.all(pages.map(heapOfPage));
  stop.abort();
  await Promise.all([front, back].map((each) => each.close()));
  const since = (arrivals: Arrivals[]) => latenciesOf(arrivals, sent.answered, WARM_UP_SECONDS * sizes.perSecond);
  return {
    sizes,
    latencies: {
      sends: summary(sent.took.slice(WARM_UP_SECONDS * sizes.perSecond)),
      sockets: since([sockets]),
      streams: since(streams),
      webhooks: since(webhooks),
      consoles: since(shownAt),
    },
    memory,
    pages: heaps,
    faults: [...sent.faults, ...missing],
  };
}

/** Opens one socket for each of this many visitors. @param onChats runs when the chats are there, before the sockets */
async function openVisitors(url: URL, organization: Organization, count: number, onChats: () => Promise<void>) {
  const channel = await createChannel(organization);
  const users = Array.from({ length: count }, (_, n) => `visitor-${n}`);
  const chatIds: string[] = [];
  for (const address of users) chatIds.push((await createChat(channel, { contact: { address } })).id);
  await onChats();
  const protocols = users.map((user) => [
    "parley.v1",
    `user.${Buffer.from(user).toString("base64url")}.${hashOf(channel, user)}`,
  ]);
  const sockets: Arrivals = new Map();
  const listeners = await openSockets(new URL(`/web/${channel.id}/socket?after=0`, url), protocols);
  listeners.onMessage = (_, frame) => came(sockets, frame);
  return { chatIds, sockets };
}

/** A stream that goes on where it ended: the service ends one after 10,000 events or 5,000 calls of chats. */
async function openStream(url: URL, secret: string, signal: AbortSignal): Promise<Arrivals> {
  const arrivals: Arrivals = new Map();
  let lastId: string | undefined;
  const open = async () => {
    const headers = { ...authorized(secret), ...(lastId !== undefined && { "Last-Event-ID": lastId }) };
    const response = await fetch(new URL("/api/v1/events/stream?types=message.created", url), { headers, signal });
    if (response.status !== 200) throw new Error(`a stream was answered ${response.status}`);
    return response;
  };
  const read = async (response: Response) => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of response.body ?? []) {
      const frames = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        lastId = /^id: ?(.+)$/m.exec(frame)?.[1] ?? lastId;
        came(arrivals, frame);
      }
    }
  };
  const first = await open();
  const follow = async () => {
    await read(first);
    while (!signal.aborted) await read(await open());
  };
  // The end of the measurement ends it. What a stream that failed did not bring is missing in the end.
  void follow().catch(() => {});
  return arrivals;
}

async function openWebhooks(
  { place, receiver }: Ground,
  organizationId: string,
  { webhooks, perSecond }: ListenersSizes,
) {
  const all: Arrivals[] = [];
  const pace = Math.min(Math.floor(CALLS_OF_A_HOST / webhooks), perSecond * 2);
  for (let n = 0; n < webhooks; n++) {
    const endpoint = receiver.endpoint();
    const arrivals: Arrivals = new Map();
    endpoint.onCall = ({ event, at }) => came(arrivals, event.data.message?.text ?? "", at);
    const asked = { url: endpoint.url, types: ["message.created"], perSecond: pace };
    const path = `/admin/v1/organizations/${organizationId}/webhooks`;
    wanted(201, await place.call(place.adminToken, "POST", path, asked));
    all.push(arrivals);
  }
  return all;
}

/** The text of a message has its number. */
const textOf = (n: number) => `Message ${n}.`;

function came(arrivals: Arrivals, text: string, at = performance.now()): void {
  const n = Number(/Message (\d+)\./.exec(text)?.[1] ?? -1);
  if (n >= 0 && !arrivals.has(n)) arrivals.set(n, at);
}

/** Opens the inbox, whose page notes when it draws each message's text in the list of chats. */
async function openConsole({ browser, server, folder, place }: Ground, organizationId: string): Promise<Page> {
  const page = await signIn(browser, server.url("parley"), folder, place.adminToken);
  await page.goto(new URL(`/console/o/${organizationId}/inbox`, server.url("parley")).href);
  await page.locator(".chat-row").first().waitFor();
  await page.evaluate(() => {
    const seen: [number, number][] = [];
    Object.assign(window, { seen });
    const known = new Set<number>();
    const look = () => {
      for (const row of document.querySelectorAll(".chat-row")) {
        const n = Number(/Message (\d+)\./.exec(row.textContent ?? "")?.[1] ?? -1);
        if (n < 0 || known.has(n)) continue;
        known.add(n);
        seen.push([n, Date.now()]);
      }
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return page;
}

async function arrivalsOf(page: Page): Promise<Arrivals> {
  const seen = await page.evaluate(() => (window as unknown as { seen: [number, number][] }).seen);
  return new Map(seen.map(([n, at]) => [n, at - performance.timeOrigin]));
}

async function heapOfPage(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize / 1e6;
}

/** Sends at an even pace, in one chat after the other, whether or not the sends before were answered. */
async function sendAtPace(
  url: URL,
  { secret, chatIds }: { secret: string; chatIds: string[] },
  { perSecond, seconds }: ListenersSizes,
) {
  const answered: Arrivals = new Map();
  const took: number[] = [];
  const faults: string[] = [];
  const send = async (n: number) => {
    const begun = performance.now();
    const init = { method: "POST", headers: authorized(secret), body: JSON.stringify({ content: textOf(n) }) };
    const response = await fetch(new URL(`/api/v1/chats/${chatIds[n % chatIds.length]}/messages`, url), init);
    const text = await response.text();
    if (response.status !== 201) throw new Error(`it was answered ${response.status}: ${text}`);
    answered.set(n, performance.now());
    took.push(performance.now() - begun);
  };
  const start = performance.now();
  const sends: Promise<unknown>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    sends.push(send(n).catch((error: unknown) => faults.push(`${textOf(n)} ${String(error)}`)));
    await delay(Math.max(0, start + ((n + 1) * 1_000) / perSecond - performance.now()));
  }
  await Promise.all(sends);
  return { answered, took, faults };
}

/** Waits for what is on its way. @returns what did not come */
async function missingAfter(listeners: Arrivals[], answered: Arrivals): Promise<string[]> {
  const end = performance.now() + PATIENCE_MS;
  const missing = () => listeners.map((arrivals) => [...answered.keys()].filter((n) => !arrivals.has(n)).length);
  while (missing().some((count) => count > 0) && performance.now() < end) await delay(100);
  return missing().flatMap((count, n) => (count > 0 ? [`listener ${n} missed ${count} messages`] : []));
}

function latenciesOf(arrivals: Arrivals[], answered: Arrivals, from: number): Latencies {
  const times = arrivals.flatMap((one) =>
    [...one].flatMap(([n, at]) => {
      const sentAt = answered.get(n);
      // An event can come while the 201 is read.
      return n < from || sentAt === undefined ? [] : [Math.max(0, at - sentAt)];
    }),
  );
  return summary(times);
}

function summary(times: number[]): Latencies {
  return { count: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

export function listenersText({ sizes, latencies, memory, pages, faults }: ListenersMeasurement): string {
  const { visitors, streams, webhooks, consoles, perSecond, seconds } = sizes;
  const ms = (value: number) => value.toFixed(1).padStart(9);
  const mb = (value: number) => value.toFixed(1).padStart(10);
  return [
    `${shown(visitors)} sockets, ${streams} streams, ${webhooks} webhooks and ${consoles} consoles beside ${perSecond} sends a second for ${seconds} s\n\n`,
    "             count   p50 ms   p99 ms\n",
    ...Object.entries(latencies).map(
      ([name, { count, p50, p99 }]) => `${name.padEnd(9)}${String(count).padStart(9)}${ms(p50)}${ms(p99)}\n`,
    ),
    `\n${"memory in MB, with".padEnd(NAME_WIDTH)}   process    Worker   objects\n`,
    ...memory.map((one) => `${one.with.padEnd(NAME_WIDTH)}${mb(one.resident)}${mb(one.worker)}${mb(one.objects)}\n`),
    `a console's page${pages.map((each) => ` ${each.toFixed(1)}`).join("")}\n`,
    ...faults.slice(0, 10).map((fault) => `FAULT: ${fault}\n`),
  ].join("");
}
