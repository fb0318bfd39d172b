import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "../../bench/statistics.ts";
import { running } from "../../support/world/patience.ts";
import type { Ground } from "./ground.ts";
import type { FakeNetwork } from "./network.ts";
import { type Message, Parley } from "./parley.ts";
import { type Force, killAtRandom, type Row } from "./storm.ts";

const CONNECTIONS = 16;
const COPIES = 5;
const CONTACTS = ["4930001", "4930002", "4930003", "4930004"];
/** Of each network. */
const EVENTS_A_ROUND = 40;
const PATIENCE_MS = 120_000;

interface Event {
  network: FakeNetwork;
  n: number;
  address: string;
}

/** Webhooks repeated, at once and out of order, with kills among them: each message is stored once. */
export async function webhooks(force: Force, { server, telegram, whatsapp }: Ground): Promise<Row[]> {
  const { rounds, random } = force;
  const networks = [telegram, whatsapp];
  const killsBefore = server.kills;
  const parley = await Parley.begin(server);
  const channels = await Promise.all(networks.map((network) => network.channel(parley)));
  const events = networks.flatMap((network) =>
    Array.from({ length: rounds * EVENTS_A_ROUND }, (_, n): Event => {
      return { network, n: n + 1, address: random.pick(CONTACTS) };
    }),
  );
  const calls = random.shuffle(Array.from({ length: COPIES }, () => events).flat());
  const howMany = calls.length;
  const tookMs: number[] = [];
  let again = 0;
  async function post(): Promise<void> {
    for (let event = calls.pop(); event; event = calls.pop()) {
      const { network, n, address } = event;
      const end = running() + PATIENCE_MS;
      for (;;) {
        const begun = performance.now();
        const status = await network.deliver(n, address, `event ${n}`);
        if (status === 200) {
          tookMs.push(performance.now() - begun);
          break;
        }
        if (status !== 0 && status !== 503) throw new Error(`a webhook was answered ${status}`);
        if (running() > end) throw new Error("the service did not come back");
        again++;
        // As the networks do: what was not acknowledged comes again.
        await delay(30);
      }
    }
  }
  const kills = killAtRandom(server, { ...force, rounds: Math.ceil(rounds / 5) });
  await Promise.all([kills, ...Array.from({ length: CONNECTIONS }, post)]);
  const faults: string[] = [];
  let stored = 0;
  for (const [at, network] of networks.entries()) {
    for (const address of CONTACTS) {
      const chatId = await parley.chatOf(channels[at]?.id ?? "", address);
      const { messages } = chatId ? await parley.messages(chatId) : { messages: [] };
      stored += messages.length;
      const sent = events.filter((event) => event.network === network && event.address === address);
      faults.push(...inboundFaults(messages, sent).map((fault) => `${network.kind} ${address}: ${fault}`));
    }
  }
  return [
    {
      test: "webhooks amid kills",
      howMany: `${events.length} messages × ${COPIES}, shuffled, ${CONNECTIONS} connections, ${server.kills - killsBefore} kills`,
      held: `${howMany} acknowledged (${again} asked for again), ${stored} stored, each once; p95 ${quantile(tookMs, 0.95).toFixed(0)} ms`,
      faults,
    },
  ];
}

/** What is wrong with a chat that should hold these events, in any order. */
export function inboundFaults(messages: Message[], events: { n: number }[]): string[] {
  const faults: string[] = [];
  const byContent = Map.groupBy(messages, ({ content }) => content);
  for (const { n } of events) {
    const times = byContent.get(`event ${n}`)?.length ?? 0;
    if (times !== 1) faults.push(`event ${n} is stored ${times} times`);
  }
  if (byContent.size > events.length) faults.push("a message is stored that nobody wrote");
  if (messages.some(({ seq }, at) => seq !== at + 1)) faults.push("the sequence has a gap");
  return faults;
}
