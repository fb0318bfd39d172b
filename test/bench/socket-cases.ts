import { createChannel, createChat, createKey, createOrganization } from "../support/world/factories.ts";
import { hashOf } from "../support/world/identity.ts";
import { type Case, CONNECTIONS, inTurn, parley } from "./cases.ts";
import { drive, type Measured } from "./driver.ts";
import type { Place } from "./fixtures.ts";
import { authorized, post } from "./request.ts";
import { type Sizes, shown } from "./sizes.ts";
import { quantile } from "./statistics.ts";

/** Milliseconds in which a chat reports its activity, beside many others. */
const REST_A_CHAT = 5;
const OPENED_AT_ONCE = 20;
const PATIENCE_MS = 5_000;

/** Each visitor has a chat with one socket: a chat has few sockets, one for each tab of its visitor. */
export function socketCases({ visitors: count }: Sizes): Case[] {
  const name = `${shown(count)} open sockets, sent to received`;
  return [
    parley(name, { rest: count * REST_A_CHAT, last: true }, async (place) => {
      const { path, protocols, requests } = await visitors(place, count);
      let open: Promise<Listeners> | undefined;
      const run = async (url: URL) => {
        open ??= openSockets(new URL(path, url), protocols);
        return deliver(url, await open, requests);
      };
      return { ...inTurn(requests, 201), run };
    }),
  ];
}

/** `onMessage` is called when the nth socket receives the frame of a message. */
interface Listeners {
  onMessage: (n: number, frame: string) => void;
}

async function visitors(place: Place, count: number) {
  const organization = await createOrganization(place);
  const channel = await createChannel(organization);
  const { secret } = await createKey(organization);
  const users = Array.from({ length: count }, (_, n) => `visitor-${n}`);
  const chatIds: string[] = [];
  for (const address of users) chatIds.push((await createChat(channel, { contact: { address } })).id);
  return {
    path: `/web/${channel.id}/socket?after=0`,
    protocols: users.map((user) => {
      return ["parley.v1", `user.${Buffer.from(user).toString("base64url")}.${hashOf(channel, user)}`];
    }),
    requests: chatIds.map((id) => post(`/api/v1/chats/${id}/messages`, '{"content":"Hello"}', authorized(secret))),
  };
}

/** Opens a socket for each of these subprotocols. */
export async function openSockets(url: URL, protocols: string[][]): Promise<Listeners> {
  const listeners: Listeners = { onMessage: () => undefined };
  const address = String(url).replace("http", "ws");
  for (let from = 0; from < protocols.length; from += OPENED_AT_ONCE) {
    const some = protocols.slice(from, from + OPENED_AT_ONCE);
    await Promise.all(
      some.map((own, index) => openOne(address, own, (frame) => listeners.onMessage(from + index, frame))),
    );
  }
  return listeners;
}

/** Opens a socket. Resolves when the service says that it is ready. */
function openOne(address: string, protocols: string[], onMessage: (frame: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, protocols);
    socket.addEventListener("close", ({ code }) => reject(new Error(`a visitor's socket was closed with ${code}`)));
    socket.addEventListener("message", ({ data }) => {
      if (String(data).startsWith('{"type":"message"')) onMessage(String(data));
      else resolve();
    });
  });
}

/** Sends one message to each visitor. A latency is the time from the request to the frame. */
async function deliver(url: URL, listeners: Listeners, requests: string[]): Promise<Measured> {
  const { promise: received, resolve } = Promise.withResolvers<void>();
  const sentAt: number[] = [];
  const latencies: number[] = [];
  listeners.onMessage = (n) => {
    latencies.push(performance.now() - (sentAt[n] ?? 0));
    if (latencies.length === requests.length) resolve();
  };
  const request = (n: number) => {
    sentAt[n] = performance.now();
    return requests[n] as string;
  };
  const start = performance.now();
  const load = { url, connections: CONNECTIONS, ...inTurn(requests, 201), request };
  const sent = await drive(load, { requests: requests.length });
  const timer = setTimeout(resolve, PATIENCE_MS);
  await received;
  clearTimeout(timer);
  const missing = requests.length - latencies.length;
  return {
    ...sent,
    seconds: (performance.now() - start) / 1_000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    unexpected: sent.unexpected ?? (missing > 0 ? `${missing} messages did not arrive` : null),
  };
}
