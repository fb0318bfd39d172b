import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "../../bench/statistics.ts";
import type { Endpoint } from "../../support/webhook-receiver.ts";
import { wanted } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import type { FakeNetwork } from "./network.ts";
import { Parley } from "./parley.ts";
import { atMost, type Force, type Row, until } from "./storm.ts";

const HEALTHY_CHATS = 100;
const BACKLOG = 20;
const CONNECTIONS = 3;
const NETWORK_CHATS = 12;
const HANGING_WEBHOOKS = 3;
/** Well before a call that hangs is given up. */
const PATIENCE_MS = 25_000;
/** In this time a chat learns that a connection broke, and its webhook's object too. */
const SETTLED_MS = 1_000;
/** What the machine itself may add to a median or a p99, beside a tenth. */
const NOISE_MS = 25;

/** An event that its receiver always refuses, beside 100 chats without a fault: their events come as without it. */
export async function poison({ rounds, log }: Force, { server, receiver }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const endpoint = receiver.endpoint();
  await parley.webhook(endpoint, { types: ["message.*"], perSecond: 500, concurrency: 100 });
  const web = await parley.channel("web");
  const poisoned = await parley.chat(web.id, "poisoned");
  const chats = await atMost(
    CONNECTIONS,
    Array.from({ length: HEALTHY_CHATS }, (_, n) => () => parley.chat(web.id, `visitor-${n}`)),
  );
  await waits(parley, endpoint, chats);
  const [calm, beside]: [number[], number[]] = [[], []];
  const faults: string[] = [];
  endpoint.answer = ({ chatId, data }) => (chatId === poisoned && isPoison(data.message?.content) ? 500 : 200);
  for (let round = 1; round <= rounds; round++) {
    calm.push(...(await waits(parley, endpoint, chats)));
    // The first of these is refused from then on, and the others wait behind it.
    for (let n = 0; n < BACKLOG; n++) await parley.insist("POST", messagesOf(poisoned), { content: "poison" });
    beside.push(...(await waits(parley, endpoint, chats)));
    if (round % 10 === 0) log(`  ${round} rounds`);
  }
  const own = endpoint.calls.filter(({ event }) => event.chatId === poisoned);
  if (own.length === 0 || own.some(({ event }) => event.number !== own[0]?.event.number)) {
    faults.push("the poisoned chat was not held up by its first event");
  }
  const [lost, row] = compared(calm, beside, rounds * HEALTHY_CHATS, 0.99);
  return [
    {
      test: "neighbors of a poisonous event",
      howMany: `${beside.length} events of ${HEALTHY_CHATS} chats, beside an event that was answered 500 ${own.length} times`,
      held: `all came meanwhile; ${row}`,
      faults: [...faults, ...lost],
    },
  ];
}

/** Webhooks that never answer, and messages to a network from the same chats: these leave as without webhooks. */
export async function hanging({ rounds, log }: Force, { server, receiver, telegram }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const endpoints = Array.from({ length: HANGING_WEBHOOKS }, () => receiver.endpoint());
  const ids: string[] = [];
  for (const endpoint of endpoints) {
    ids.push(await parley.webhook(endpoint, { types: ["message.created"], perSecond: 160, concurrency: 60 }));
  }
  const channel = await telegram.channel(parley);
  const chats = await atMost(
    CONNECTIONS,
    Array.from({ length: NETWORK_CHATS }, (_, n) => () => parley.chat(channel.id, String(4_950_000 + n))),
  );
  let sent = 0;
  const send = (name: string) => {
    sent += chats.length;
    return attemptWaits(parley, telegram, chats, name);
  };
  const isDrained = async () => endpoints.every((endpoint) => acceptedBy(endpoint) >= sent);
  const [calm, beside]: [number[], number[]] = [[], []];
  const faults: string[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round++) {
    // The events of these messages occupy all calls that a chat makes.
    await send(`before ${round}`);
    const waits = await send(`calm ${round}`);
    if (!(await until(isDrained, PATIENCE_MS))) faults.push(`round ${round}: webhooks did not get all events in calm`);
    for (const endpoint of endpoints) endpoint.answer = () => "hang";
    await send(`hang ${round}`);
    const isHanging = async () => hangingAt(endpoints) >= chats.length * endpoints.length;
    await until(isHanging, PATIENCE_MS);
    const waitsBeside = await send(`beside ${round}`);
    least = Math.min(least, hangingAt(endpoints));
    // The first calls of a server are slower than all others.
    if (round > 0) {
      calm.push(...waits);
      beside.push(...waitsBeside);
    }
    for (const endpoint of endpoints) {
      endpoint.answer = () => 200;
      for (const call of endpoint.hanging) call.destroy();
    }
    await delay(SETTLED_MS);
    for (const id of ids) wanted(200, await parley.admin("POST", `/webhooks/${id}/enable`, {}));
    if (!(await until(isDrained, PATIENCE_MS))) faults.push(`round ${round}: webhooks did not get all events`);
    if (round % 10 === 0) log(`  ${round} rounds`);
  }
  const [late, row] = compared(calm, beside, rounds * NETWORK_CHATS, 0.5);
  if (least < chats.length * endpoints.length) faults.push(`only ${least} calls of webhooks hung`);
  return [
    {
      test: "messages beside webhooks that hang",
      howMany: `${beside.length} messages to Telegram from ${NETWORK_CHATS} chats, beside ${least} calls that hung`,
      held: `all left meanwhile; ${row}; afterward the webhooks got all events`,
      faults: [...faults, ...late],
    },
  ];
}

function acceptedBy({ calls }: Endpoint): number {
  return new Set(calls.filter(({ status }) => status === 200).map(({ event }) => event.id)).size;
}

function hangingAt(endpoints: Endpoint[]): number {
  return endpoints.reduce((sum, { hanging }) => sum + hanging.size, 0);
}

function isPoison(content: unknown): boolean {
  return content === "poison";
}

function messagesOf(chatId: string): string {
  return `/chats/${chatId}/messages`;
}

/** The faults of two measurements, of which one quantile counts, and both as text. */
function compared(calm: number[], beside: number[], wanted: number, counts: 0.5 | 0.99): [string[], string] {
  const faults: string[] = [];
  const came = Math.min(calm.length, beside.length);
  if (came !== wanted) faults.push(`only ${came} of ${wanted} came meanwhile`);
  const ms = (of: number[], share: number) => Math.round(quantile(of, share));
  const [before, after] = [ms(calm, counts), ms(beside, counts)];
  if (after > before * 1.1 + NOISE_MS) faults.push(`p${counts * 100} ${after} ms, ${before} ms in calm`);
  const text = ([name, share]: [string, number]) => `${name} ${ms(beside, share)} ms (calm ${ms(calm, share)})`;
  return [faults, `${text(["p50", 0.5])}, ${text(["p99", 0.99])}`];
}

/** Sends one message to each chat: the milliseconds from each send to the receiver's call. */
async function waits(parley: Parley, endpoint: Endpoint, chats: string[]): Promise<number[]> {
  const sent = new Map<string, number>();
  const came = new Map<string, number>();
  endpoint.onCall = ({ event, at }) => came.set(event.data.messageId, at);
  await atMost(
    CONNECTIONS,
    chats.map((chatId) => async () => {
      const begun = performance.now();
      const { body } = await parley.insist("POST", messagesOf(chatId), { content: "healthy" });
      sent.set(body.message.id, begun);
    }),
  );
  await until(async () => [...sent.keys()].every((id) => came.has(id)), PATIENCE_MS);
  endpoint.onCall = null;
  return [...sent].flatMap(([id, at]) => (came.has(id) ? [(came.get(id) ?? 0) - at] : []));
}

/** Sends one message to each chat: the milliseconds from each send to the network. */
async function attemptWaits(parley: Parley, network: FakeNetwork, chats: string[], name: string): Promise<number[]> {
  const begun = new Map(chats.map((chatId) => [`${name} to ${chatId}`, 0]));
  await atMost(
    CONNECTIONS,
    chats.map((chatId) => async () => {
      const content = `${name} to ${chatId}`;
      begun.set(content, Date.now());
      await parley.insist("POST", messagesOf(chatId), { content });
    }),
  );
  const heard = () => [...network.heard.values()].flat().filter(({ content }) => begun.has(content));
  await until(async () => heard().length >= begun.size, PATIENCE_MS);
  return heard().map(({ content, at }) => at - (begun.get(content) ?? 0));
}
