import { setTimeout as delay } from "node:timers/promises";
import { extras, logFaults, wireFaults } from "./checks.ts";
import type { Ground } from "./ground.ts";
import type { FakeNetwork } from "./network.ts";
import { Parley } from "./parley.ts";
import { Senders } from "./senders.ts";
import { type Force, type Row, until } from "./storm.ts";

const CONTACTS = ["4920001", "4920002", "4920003"];
const LOAD = { connections: 4, pauseMs: 40 };
/** The share of calls that are to come again, so that alarms fall due in a pause. */
const BUSY = 0.1;
const DRAIN_MS = 120_000;
/** The more there are the longer they may be, but shorter than the 30 s after which an attempt counts as not answered. */
const PAUSE_MS = { least: 500, perRound: 2_000, most: 28_000 };

/** SIGSTOP and SIGCONT amid delivery: what was due meanwhile is done once, and no call is made twice. */
export async function pauses({ rounds, random, log }: Force, { server, telegram, whatsapp }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const lines: { chatId: string; address: string; network: FakeNetwork }[] = [];
  for (const network of [telegram, whatsapp]) {
    const channel = await network.channel(parley);
    // Some answers take as long as a short pause, so that calls are under way when it comes.
    network.weather = () => delay(random.between(0, 300), undefined);
    network.busy = () => random.next() < BUSY;
    for (const address of CONTACTS) {
      lines.push({ chatId: await parley.chat(channel.id, address), address, network });
    }
  }
  const chats = lines.map(({ chatId }) => chatId);
  const senders = new Senders(parley, chats, random, LOAD);
  let pausedMs = 0;
  for (let round = 1; round <= rounds; round++) {
    await delay(random.between(200, 1_500));
    const ms = random.between(PAUSE_MS.least, Math.min(PAUSE_MS.perRound * rounds, PAUSE_MS.most));
    await server.pause(ms);
    pausedMs += ms;
    if (round % 10 === 0) log(`  ${round} pauses`);
  }
  const journal = await senders.stop();
  const faults = (await until(() => parley.isIdle(chats), DRAIN_MS))
    ? []
    : [`messages still wait after ${DRAIN_MS / 1_000} s`];
  let twice = 0;
  for (const { chatId, address, network } of lines) {
    const { messages, total } = await parley.messages(chatId);
    const said = journal.filter((one) => one.chatId === chatId);
    const heard = network.heard.get(address) ?? [];
    twice += extras(heard);
    faults.push(...logFaults(messages, total, said), ...wireFaults(messages, heard, network.repeats));
  }
  const answered = journal.filter(({ answer }) => answer).length;
  return [
    {
      test: "pauses amid delivery",
      howMany: `${rounds} pauses, ${(pausedMs / 1_000).toFixed(0)} s in all, ${answered} acknowledged on both networks`,
      held: `all delivered in order, ${twice} extra`,
      faults,
    },
  ];
}
