import { quantile } from "../../bench/statistics.ts";
import type { Ground } from "./ground.ts";
import type { FakeNetwork } from "./network.ts";
import { Parley } from "./parley.ts";
import { type Force, type Row, until } from "./storm.ts";

const BUSY = "999";
const BACKLOG = 20;
const CHATS = 12;
const CONNECTIONS = 3;
/** Well before the attempt that hangs is given up. */
const PATIENCE_MS = 20_000;
/** What the machine itself may add to a median, beside a tenth. */
const NOISE_MS = 25;

/**
 * A chat with many messages whose network does not answer: the others of its channel are delivered meanwhile, as in
 * calm weather. What waited for the busy chat would not be heard at all, as its call hangs until the others are done.
 */
export async function neighbours({ rounds, log }: Force, { server, telegram: network }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channel = await network.channel(parley);
  const busy = await parley.chat(channel.id, BUSY);
  const addresses = Array.from({ length: CHATS }, (_, n) => String(n + 1));
  const chats = await Promise.all(addresses.map((address) => parley.chat(channel.id, address)));
  // The first calls of a server are slower than all others.
  await waits(parley, network, chats, "first");
  const calm: number[] = [];
  const stormy: number[] = [];
  let least = BACKLOG;
  for (let round = 1; round <= rounds; round++) {
    calm.push(...(await waits(parley, network, chats, `calm ${round}`)));
    const hang = Promise.withResolvers<undefined>();
    network.weather = (address) => (address === BUSY ? hang.promise : Promise.resolve(undefined));
    for (let n = 0; n < BACKLOG; n++) {
      await parley.api("POST", `/chats/${busy}/messages`, { content: `busy ${round} ${n}` });
    }
    stormy.push(...(await waits(parley, network, chats, `storm ${round}`)));
    least = Math.min(least, await parley.depth(busy));
    hang.resolve(undefined);
    await until(async () => (await parley.depth(busy)) === 0, PATIENCE_MS);
    if (round % 10 === 0) log(`  ${round} rounds`);
  }
  const faults: string[] = [];
  const came = Math.min(calm.length, stormy.length);
  if (came !== rounds * CHATS) faults.push(`only ${came} of ${rounds * CHATS} messages were delivered meanwhile`);
  if (least < BACKLOG) faults.push("the busy chat was not busy");
  const [before, after] = [calm, stormy].map((of) => [quantile(of, 0.5), quantile(of, 0.99)] as const);
  const [calmMs = 0, calmTail = 0] = before ?? [];
  const [stormMs = 0, stormTail = 0] = after ?? [];
  if (stormMs > calmMs * 1.1 + NOISE_MS) faults.push(`${stormMs} ms beside a busy chat, ${calmMs} ms in calm`);
  return [
    {
      test: "neighbours of a busy chat",
      howMany: `${stormy.length} messages in ${CHATS} chats, beside one with ${BACKLOG} waiting whose network hangs`,
      held: `all delivered meanwhile; p50 ${stormMs} ms (calm ${calmMs}), p99 ${stormTail} ms (calm ${calmTail})`,
      faults,
    },
  ];
}

/** Sends one message to each chat, a few at a time: the milliseconds from each send to the network. */
async function waits(parley: Parley, network: FakeNetwork, chats: string[], name: string): Promise<number[]> {
  const begun = new Map<string, number>();
  const left = [...chats.entries()];
  async function send(): Promise<void> {
    for (let next = left.pop(); next; next = left.pop()) {
      const [at, chatId] = next;
      const content = `${name} of ${at}`;
      begun.set(content, Date.now());
      await parley.api("POST", `/chats/${chatId}/messages`, { content });
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  const heard = () => [...network.heard.values()].flat().filter(({ content }) => begun.has(content));
  await until(async () => heard().length >= begun.size, PATIENCE_MS);
  return heard().map(({ content, at }) => at - (begun.get(content) ?? 0));
}
