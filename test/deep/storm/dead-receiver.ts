import { setTimeout as delay } from "node:timers/promises";
import type { ReceivedCall } from "../../support/webhook-receiver.ts";
import { wanted } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { atMost, type Force, type Row, until } from "./storm.ts";

const CHATS_A_ROUND = 1_000;
const MESSAGES = 2;
const CONNECTIONS = 16;
const PACE = { perSecond: 100, concurrency: 20 };
/** How many failures in a row open the breaker. */
const FAILURES = 5;
/** The waits between probes, in milliseconds. */
const PROBES = [5_000, 15_000, 60_000, 300_000];
const PATIENCE_MS = 60_000;
/** So long that a probe fails. */
const LEAST_DEAD_MS = 8_000;

/**
 * A receiver that dies before many chats have events for it: it gets the calls of the schedule alone. When it is back, it
 * gets all events at its pace, in order.
 */
export async function deadReceiver({ rounds, log }: Force, { server, receiver }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const endpoint = receiver.endpoint();
  const id = await parley.webhook(endpoint, { types: ["message.created"], ...PACE });
  const web = await parley.channel("web");
  const create = (n: number) => () => parley.chat(web.id, `visitor-${n}`);
  const send = (chatId: string) => () => parley.insist("POST", `/chats/${chatId}/messages`, { content: "Hello" });
  const first = await create(0)();
  await send(first)();
  const faults = (await until(async () => endpoint.calls.length === 1, PATIENCE_MS))
    ? []
    : ["the first call is missing"];
  const count = Math.ceil(rounds * CHATS_A_ROUND);
  const chats = await atMost(
    CONNECTIONS,
    Array.from({ length: count }, (_, n) => create(n + 1)),
  );
  log(`  ${count} chats`);
  endpoint.answer = () => "drop";
  for (let n = 0; n < MESSAGES; n++) await atMost(CONNECTIONS, chats.map(send));
  const state = () => parley.admin("GET", `/webhooks/${id}`).then((answer) => wanted(200, answer).webhook);
  await delay(LEAST_DEAD_MS);
  const { waitingChats } = await state();
  endpoint.answer = () => 200;
  const back = performance.now();
  const failed = endpoint.calls.filter(({ status }) => status === 0);
  faults.push(...deadFaults(failed, back));
  log(`  ${failed.length} calls, ${waitingChats} chats wait`);

  const total = 1 + count * MESSAGES;
  const accepted = () => endpoint.calls.filter(({ status }) => status === 200);
  const patienceMs = (PROBES[nextProbe(failed, back)] ?? 0) + (total * 2_000) / PACE.perSecond + PATIENCE_MS;
  await until(async () => accepted().length >= total, patienceMs);
  const drained = accepted().filter(({ at }) => at > back);
  faults.push(...drainFaults(chats, drained), ...endpoint.forged);
  const [begun = back, ended = back] = [drained[0]?.at, drained.at(-1)?.at];
  const seconds = (ended - begun) / 1_000;
  const most = mostInASecond(drained);
  // Calls start at the pace. Those under way can arrive together after a pause of the machine.
  if (most > PACE.perSecond + PACE.concurrency + 1)
    faults.push(`${most} calls in a second, at a pace of ${PACE.perSecond}`);
  return [
    {
      test: "a dead receiver",
      howMany: `${count} chats, ${count * MESSAGES} events, dead for ${Math.round((back - (failed[0]?.at ?? back)) / 1_000)} s`,
      held: `${failed.length} calls while dead, ${waitingChats} chats waited; back after ${Math.round((begun - back) / 1_000)} s, drained in ${seconds.toFixed(0)} s, ${Math.round(drained.length / seconds)} a second, at most ${most}; in order`,
      faults,
    },
  ];
}

/** The calls that were one too many. Those under way when the breaker opens go on. */
export function deadFaults(failed: Pick<ReceivedCall, "at">[], back: number): string[] {
  const probes = failed.length - FAILURES - PACE.concurrency + 1;
  const fit = nextProbe(failed, back);
  return probes > fit ? [`${failed.length} calls while it was dead, of which ${fit} can be probes`] : [];
}

/** How many probes fit into the time since the first failure. */
function nextProbe(failed: Pick<ReceivedCall, "at">[], back: number): number {
  let at = failed[0]?.at ?? back;
  return PROBES.filter((wait) => (at += wait) <= back).length;
}

/** The faults in what a receiver got of chats once it was back. */
export function drainFaults(chats: string[], calls: Pick<ReceivedCall, "event">[]): string[] {
  const byChat = Map.groupBy(calls, ({ event }) => event.chatId);
  // The creation of a chat is its first event, and the webhook does not get it.
  const due = Array.from({ length: MESSAGES }, (_, n) => `${n + 2} after ${n === 0 ? null : n + 1}`).join();
  return chats.flatMap((chatId) => {
    const got = (byChat.get(chatId) ?? []).map(({ event }) => `${event.number} after ${event.previous}`).join();
    return got === due ? [] : [`${chatId}: got ${got}`];
  });
}

function mostInASecond(calls: ReceivedCall[]): number {
  let from = 0;
  return calls.reduce((most, { at }, to) => {
    while (at - (calls[from]?.at ?? 0) >= 1_000) from++;
    return Math.max(most, to - from + 1);
  }, 0);
}
