import type { Endpoint, ReceivedCall } from "../../support/webhook-receiver.ts";
import { wanted } from "../../support/world/world.ts";
import { logFaults } from "./checks.ts";
import { callFaults, eventFaults, feedFaults, repeats } from "./event-checks.ts";
import type { Ground } from "./ground.ts";
import { type ChatEvent, Parley } from "./parley.ts";
import { Senders } from "./senders.ts";
import { type Force, killAtRandom, type Row, until } from "./storm.ts";

const CHATS = 40;
const LOAD = { connections: 8, pauseMs: 40 };
/** How many chats have a network, and with it events of statuses. */
const ON_NETWORK = 8;
/** Five in a row make the webhook a failing one. Its second probe is accepted: a fifth would come 21 minutes later. */
const MAX_IN_A_ROW = 6;
/** Some events fail several times in a row while kills go on, and then wait for half a minute or two minutes. */
const DRAIN_MS = 600_000;
/** Chats report their events within a few seconds, and after a failed call within half a minute. */
const REPORT_MS = 60_000;

interface Hook {
  name: string;
  id: string;
  endpoint: Endpoint;
  isWanted: (event: ChatEvent) => boolean;
}

/** kill -9 amid webhooks: each event is accepted, in order in each chat, at most one repeat a chat and kill. */
export async function events(force: Force, { server, telegram, receiver }: Ground): Promise<Row[]> {
  const { random } = force;
  const killsBefore = server.kills;
  const parley = await Parley.begin(server);
  const all = () => true;
  const healthy = await hookOf(parley, receiver, "healthy", {}, all);
  // Most events are refused once, so that a third of the calls fail.
  const failing = await hookOf(parley, receiver, "failing", {}, all);
  const known = new Set<string>();
  let inARow = 0;
  failing.endpoint.answer = ({ id }) => {
    const isKnown = known.has(id);
    known.add(id);
    const isAccepted = isKnown || inARow === MAX_IN_A_ROW || random.next() < 0.4;
    inARow = isAccepted ? 0 : inARow + 1;
    return isAccepted ? 200 : random.pick([500, 503, "drop"] as const);
  };
  const dead = await hookOf(parley, receiver, "dead", { types: ["message.*"] }, ({ type }) =>
    type.startsWith("message."),
  );
  dead.endpoint.answer = () => "drop";

  const [web, network] = [await parley.channel("web"), await telegram.channel(parley)];
  const chats = await Promise.all(
    Array.from({ length: CHATS }, (_, n) =>
      n < ON_NETWORK ? parley.chat(network.id, String(4_940_000 + n)) : parley.chat(web.id, `visitor-${n}`),
    ),
  );
  const senders = new Senders(parley, chats, random, LOAD);
  await killAtRandom(server, force);
  const journal = await senders.stop();
  dead.endpoint.answer = () => 200;
  wanted(200, await parley.admin("POST", `/webhooks/${dead.id}/enable`, {}));

  const faults = (await until(() => parley.isIdle(chats), DRAIN_MS)) ? [] : ["messages still wait"];
  const told = new Map<string, ChatEvent[]>();
  for (const chatId of chats) told.set(chatId, await parley.events(chatId));
  const hooks = [healthy, failing, dead];
  const total = [...told.values()].flat();
  const isDrained = async () =>
    hooks.every(({ endpoint, isWanted }) => acceptedOf(endpoint).size >= total.filter(isWanted).length);
  if (!(await until(isDrained, DRAIN_MS))) {
    const states = await Promise.all(hooks.map(({ name, id }) => stateOf(parley, name, id)));
    faults.push(`events still wait after ${DRAIN_MS / 1_000} s: ${states.join("; ")}`);
  }
  let feed: ChatEvent[] = [];
  const isReported = async () => {
    feed = await feedOf(parley);
    return new Set(feed.map(({ id }) => id)).size >= total.length;
  };
  await until(isReported, REPORT_MS);
  const seen = Map.groupBy(feed, ({ chatId }) => chatId);
  for (const chatId of chats) {
    const events = told.get(chatId) ?? [];
    const { messages, total } = await parley.messages(chatId);
    const said = journal.filter((one) => one.chatId === chatId);
    const found = [
      ...logFaults(messages, total, said),
      ...eventFaults(events, messages),
      ...feedFaults(events, seen.get(chatId) ?? []).map((fault) => `feed: ${fault}`),
      ...hooks.flatMap(({ name, endpoint, isWanted }) =>
        callFaults(events.filter(isWanted), callsOf(endpoint, chatId)).map((fault) => `${name} webhook: ${fault}`),
      ),
    ];
    faults.push(...found.map((fault) => `${chatId}: ${fault}`));
  }
  faults.push(...hooks.flatMap(({ name, endpoint }) => endpoint.forged.map((fault) => `${name} webhook: ${fault}`)));
  const counts = hooks.map(({ name, endpoint: { calls } }) => {
    const failed = calls.filter(({ status }) => status !== 200).length;
    return `${name} ${calls.length} calls, ${failed} failed, ${repeats(calls)} repeats`;
  });
  const answered = journal.filter(({ answer }) => answer).length;
  return [
    {
      test: "kills amid webhooks",
      howMany: `${server.kills - killsBefore} kills, ${answered} acknowledged by 8 writers, ${total.length} events in ${CHATS} chats, 3 webhooks`,
      held: `complete, in order, signed, in the feed; ${counts.join("; ")}`,
      faults,
    },
  ];
}

async function hookOf(
  parley: Parley,
  receiver: Ground["receiver"],
  name: string,
  settings: object,
  isWanted: Hook["isWanted"],
): Promise<Hook> {
  const endpoint = receiver.endpoint();
  const id = await parley.webhook(endpoint, { perSecond: 160, concurrency: 60, ...settings });
  return { name, id, endpoint, isWanted };
}

/** The webhook's state, for people. */
async function stateOf(parley: Parley, name: string, id: string): Promise<string> {
  const { webhook } = wanted(200, await parley.admin("GET", `/webhooks/${id}`));
  return `${name} is ${webhook.state} since ${webhook.since}, ${webhook.waitingChats} chats wait`;
}

/** The calls about a chat, in the order of arrival. */
function callsOf({ calls }: Endpoint, chatId: string): ReceivedCall[] {
  return calls.filter(({ event }) => event.chatId === chatId);
}

/** The ids of the chats' events that a receiver accepted. */
function acceptedOf({ calls }: Endpoint): Set<string> {
  return new Set(calls.filter(({ event, status }) => event.chatId && status === 200).map(({ event }) => event.id));
}

/** All events of chats in the organization's feed. */
async function feedOf(parley: Parley): Promise<ChatEvent[]> {
  const found: ChatEvent[] = [];
  for (let after = ""; ; ) {
    const query = after === "" ? "from=oldest" : `after=${encodeURIComponent(after)}`;
    const { events, cursor, hasMore } = wanted(200, await parley.api("GET", `/events?limit=100&${query}`));
    found.push(...events);
    if (!hasMore) return found;
    after = cursor;
  }
}
