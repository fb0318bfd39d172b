import { setTimeout as delay } from "node:timers/promises";
import { fakeTelegram } from "./network.ts";
import { Parley } from "./parley.ts";
import { Server } from "./server.ts";
import { type Force, quantile, type Row, until } from "./storm.ts";

const CHATS = 20;
const BACKLOG = 20;
const HANG_MS = 4_000;
const MESSAGES = 5;
const DRAIN_MS = 60_000;
/** What a timer of the machine may add to a tail, beside the tenth that a busy neighbour may. */
const NOISE_MS = 50;

/** A chat whose network hangs and that has many waiting: the others of its channel are delivered as in calm weather. */
export async function neighbours({ rounds, log }: Force): Promise<Row[]> {
  const network = await fakeTelegram();
  const server = await Server.begin(network.vars);
  try {
    const parley = await Parley.begin(server);
    const channel = await network.channel(parley);
    const busy = await parley.chat(channel.id, "999");
    const addresses = Array.from({ length: CHATS }, (_, n) => String(n + 1));
    const chats = await Promise.all(addresses.map((address) => parley.chat(channel.id, address)));
    network.weather = async (address) => void (address === "999" && (await delay(HANG_MS)));
    // From a send's begin to the network: what the contact waits for.
    async function waits(name: string): Promise<number[]> {
      const begun = new Map<string, number>();
      for (let n = 0; n < MESSAGES; n++) {
        await Promise.all(
          chats.map((chatId, at) => {
            const content = `${name} ${n} of ${at}`;
            begun.set(content, Date.now());
            return parley.api("POST", `/chats/${chatId}/messages`, { content });
          }),
        );
      }
      const heard = () => addresses.flatMap((address) => network.heard.get(address) ?? []);
      await until(async () => heard().filter(({ content }) => begun.has(content)).length >= begun.size, DRAIN_MS);
      return heard().flatMap(({ content, at }) => {
        const since = begun.get(content);
        return since === undefined ? [] : [at - since];
      });
    }
    await waits("first");
    const calm: number[] = [];
    const stormy: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      calm.push(...(await waits(`calm ${round}`)));
      for (let n = 0; n < BACKLOG; n++) {
        const content = `busy ${round} ${n}`;
        await parley.api("POST", `/chats/${busy}/messages`, { content });
      }
      stormy.push(...(await waits(`storm ${round}`)));
      if (round % 10 === 0) log(`  ${round} rounds`);
    }
    const waiting = await parley.depth(busy);
    const [before, after] = [quantile(calm, 0.99), quantile(stormy, 0.99)];
    const faults: string[] = [];
    const wanted = rounds * CHATS * MESSAGES;
    if (stormy.length !== wanted) faults.push(`${stormy.length} of ${wanted} messages came`);
    if (waiting === 0) faults.push("the busy chat was not busy");
    if (after > before * 1.1 + NOISE_MS) faults.push(`p99 ${after} ms beside a busy chat, ${before} ms in calm`);
    return [
      {
        test: "neighbours of a busy chat",
        howMany: `${CHATS} chats, ${calm.length} messages in calm and ${stormy.length} beside a chat with ${waiting} waiting`,
        held: `all delivered; p50 ${quantile(stormy, 0.5)} ms (calm ${quantile(calm, 0.5)}), p99 ${after} ms (calm ${before})`,
        faults,
      },
    ];
  } finally {
    await server.end();
    await network.close();
  }
}
