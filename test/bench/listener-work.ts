import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { webhookReceiver } from "../support/webhook-receiver.ts";
import { createChat } from "../support/world/factories.ts";
import { hashOf } from "../support/world/identity.ts";
import { wanted } from "../support/world/world.ts";
import { followStream } from "./event-stream.ts";
import { createOffice } from "./fixtures.ts";
import { heapOfPage, openPages, type Pages } from "./pages.ts";
import type { WorkCase } from "./work-cases.ts";
import { numberIn, type WorkGround } from "./work-ground.ts";

const VISITORS_A_STREAM = 100;
const WEBHOOKS = 3;
/** How many calls a second all webhooks of a host may make: `HOST_CEILING` in `src/webhooks/host-ceiling.ts`. */
const CALLS_OF_A_HOST = 500;
const CONSOLES = 2;
const OPENED_AT_ONCE = 20;
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;
const LAST_MS = 10_000;

/** When each numbered send came to a listener, as of `performance.now()`. */
type Arrivals = Map<number, number>;

/** Visitors' sockets, streams, webhooks and consoles hear of all that is sent, until the time is up. */
export const listenerWork: WorkCase = {
  name: "listeners",
  amount: 1_000,
  unit: `visitors' sockets, a stream for each ${VISITORS_A_STREAM}, ${WEBHOOKS} webhooks and ${CONSOLES} consoles`,
  perSecond: 100,
  async make(place, amount) {
    const { channel, secret } = await createOffice(place);
    const { id: organizationId } = channel.organization;
    const users = Array.from({ length: amount }, (_, n) => `visitor-${n}`);
    const chatIds: string[] = [];
    for (const address of users) chatIds.push((await createChat(channel, { contact: { address } })).id);
    const sockets: Arrivals = new Map();
    const streams: Arrivals[] = [];
    const webhooks: Arrivals[] = [];
    const consoles: Page[] = [];
    let first = 0;
    return {
      chatIds,
      secret,
      async open(ground) {
        await ground.weigh("no listener");
        const protocols = users.map((user) => [
          "parley.v1",
          `user.${Buffer.from(user).toString("base64url")}.${hashOf(channel, user)}`,
        ]);
        await openSockets(new URL(`/web/${channel.id}/socket?after=0`, ground.url), protocols, sockets);
        await ground.weigh("and sockets");
        while (streams.length * VISITORS_A_STREAM < amount) streams.push(await openStream(ground, secret));
        await ground.weigh("and streams");
        webhooks.push(...(await openWebhooks(ground, organizationId)));
        const pages = await openPages(ground);
        while (consoles.length < CONSOLES) consoles.push(await openConsole(ground, pages, organizationId));
        await ground.weigh("and consoles");
      },
      async run(ground) {
        // Before, the chats learned that somebody listens.
        first = ground.answered.size;
        while (!ground.isOver()) await delay(LOOK_EVERY_MS);
        return null;
      },
      async check(ground) {
        await waitForAll(ground, [sockets, ...streams, ...webhooks]);
        const note = (row: string, all: Arrivals[]) => {
          for (const arrivals of all) noteArrivals(ground, row, arrivals, first);
        };
        note("sockets, after the 201", [sockets]);
        note("streams, after the 201", streams);
        note("webhooks, after the 201", webhooks);
        for (const page of consoles) {
          note("consoles, after the 201", [await arrivalsOf(page)]);
          ground.remarks.push(`A console's page holds ${(await heapOfPage(page)).toFixed(1)} MB of JavaScript`);
        }
      },
    };
  },
};

const QUIET_CHATS = 40;
const QUIET_MS = 60_000;

/** A console that stays open hears of chats that get a message each, after minutes or hours without one. */
export const quietWork: WorkCase = {
  name: "quiet chats",
  amount: QUIET_CHATS,
  unit: "chats, whose messages come a minute apart or more, and a console",
  perSecond: 0.5,
  async make(place, amount) {
    const { channel, secret } = await createOffice(place);
    const chatIds: string[] = [];
    while (chatIds.length < amount) chatIds.push((await createChat(channel)).id);
    let console: Page | undefined;
    return {
      chatIds,
      secret,
      async open(ground) {
        console = await openConsole(ground, await openPages(ground), channel.organization.id);
        // The chats were created a moment ago.
        await delay(QUIET_MS);
      },
      async run(ground) {
        while (!ground.isOver()) await delay(LOOK_EVERY_MS);
        return null;
      },
      async check(ground) {
        if (!console) return;
        // The last ones are still on their way.
        await delay(LAST_MS);
        noteArrivals(ground, "the console, after the 201", await arrivalsOf(console), 0);
      },
    };
  },
};

function came(arrivals: Arrivals, text: string, at = performance.now()): void {
  const n = numberIn(text);
  if (n !== null && !arrivals.has(n)) arrivals.set(n, at);
}

/** Opens a socket for each of these subprotocols. Resolves when the service has said that they are ready. */
async function openSockets(url: URL, protocols: string[][], arrivals: Arrivals): Promise<void> {
  const address = String(url).replace("http", "ws");
  const open = (own: string[]) =>
    new Promise<void>((resolve, reject) => {
      const socket = new WebSocket(address, own);
      socket.addEventListener("close", ({ code }) => reject(new Error(`a visitor's socket was closed with ${code}`)));
      socket.addEventListener("message", ({ data }) => {
        if (String(data).startsWith('{"type":"message"')) came(arrivals, String(data));
        else resolve();
      });
    });
  for (let from = 0; from < protocols.length; from += OPENED_AT_ONCE) {
    await Promise.all(protocols.slice(from, from + OPENED_AT_ONCE).map(open));
  }
}

async function openStream({ url, atEnd }: WorkGround, secret: string): Promise<Arrivals> {
  const arrivals: Arrivals = new Map();
  const stop = new AbortController();
  atEnd(async () => stop.abort());
  await followStream(url, secret, stop.signal, (frame) => came(arrivals, frame));
  return arrivals;
}

async function openWebhooks({ call, adminToken, atEnd }: WorkGround, organizationId: string): Promise<Arrivals[]> {
  const receiver = await webhookReceiver();
  atEnd(() => receiver.close());
  const all: Arrivals[] = [];
  while (all.length < WEBHOOKS) {
    const endpoint = receiver.endpoint();
    const arrivals: Arrivals = new Map();
    endpoint.onCall = ({ event, at }) => came(arrivals, event.data.message?.text ?? "", at);
    const perSecond = Math.floor(CALLS_OF_A_HOST / WEBHOOKS);
    const asked = { url: endpoint.url, types: ["message.created"], perSecond };
    wanted(201, await call(adminToken, "POST", `/admin/v1/organizations/${organizationId}/webhooks`, asked));
    all.push(arrivals);
  }
  return all;
}

/** Opens the inbox, whose page notes when it draws each message's text in the list of chats. */
async function openConsole({ url }: WorkGround, pages: Pages, organizationId: string): Promise<Page> {
  const page = await pages.signIn();
  await page.goto(new URL(`/console/o/${organizationId}/inbox`, url).href);
  await page.locator(".chat-row").first().waitFor();
  await page.evaluate(() => {
    const seen = new Map<string, number>();
    Object.assign(window, { seen });
    const look = () => {
      for (const row of document.querySelectorAll(".chat-row")) {
        const [text] = /Message \d+\./.exec(row.textContent ?? "") ?? [];
        if (text !== undefined && !seen.has(text)) seen.set(text, Date.now());
      }
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return page;
}

/** When the page drew each message. It draws only what is in view. */
async function arrivalsOf(page: Page): Promise<Arrivals> {
  const seen = await page.evaluate(() => [...(window as unknown as { seen: Map<string, number> }).seen]);
  const arrivals: Arrivals = new Map();
  for (const [text, at] of seen) came(arrivals, text, at - performance.timeOrigin);
  return arrivals;
}

/** Waits for what is on its way. What does not come is a fault. */
async function waitForAll({ answered, faults }: WorkGround, listeners: Arrivals[]): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  const missing = () => listeners.map((arrivals) => [...answered.keys()].filter((n) => !arrivals.has(n)).length);
  while (missing().some((count) => count > 0) && performance.now() < end) await delay(LOOK_EVERY_MS);
  for (const [n, count] of missing().entries()) if (count > 0) faults.push(`listener ${n} missed ${count} messages`);
}

/** @param first the number of the first send that counts */
function noteArrivals(ground: WorkGround, row: string, arrivals: Arrivals, first: number): void {
  for (const [n, at] of arrivals) {
    const answeredAt = ground.answered.get(n);
    // An event can come while the 201 is read.
    if (n >= first && answeredAt !== undefined) ground.note(row, Math.max(0, at - answeredAt), at);
  }
}
