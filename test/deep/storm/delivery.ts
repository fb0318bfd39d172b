import { setTimeout as delay } from "node:timers/promises";
import type { DevServer } from "../../support/world/dev-server.ts";
import { extras, logFaults, wireFaults } from "./checks.ts";
import type { Ground } from "./ground.ts";
import type { FakeNetwork } from "./network.ts";
import { Parley } from "./parley.ts";
import { Senders } from "./senders.ts";
import { type Force, killAtRandom, type Row, until } from "./storm.ts";

const CONTACTS = ["4910001", "4910002", "4910003", "4910004", "4910005", "4910006"];
/** WhatsApp never sends a status for this message. */
const SILENT = ["4910006"];
const LOAD = { connections: 4, pauseMs: 40 };
/** Longer than WhatsApp's wait, several kills of one message in a row, and the back-off after them. */
const DRAIN_MS = 400_000;
const QUIET_MS = 200_000;

/** kill -9 during delivery to Telegram: none lost, in order, at most one extra for each kill and chat. */
export async function telegram(force: Force, { server, telegram }: Ground): Promise<Row[]> {
  return delivery(force, "Telegram", server, telegram);
}

/** kill -9 during delivery to WhatsApp: none lost, in order, none twice before a status or the end of the wait. */
export async function whatsapp(force: Force, { server, whatsapp }: Ground): Promise<Row[]> {
  whatsapp.silent = SILENT;
  return delivery(force, "WhatsApp", server, whatsapp);
}

async function delivery(force: Force, name: string, server: DevServer, network: FakeNetwork): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channel = await network.channel(parley);
  const chats = await Promise.all(CONTACTS.map((address) => parley.chat(channel.id, address)));
  const senders = new Senders(parley, chats, force.random, LOAD);
  await killAtRandom(server, force);
  await killAtWorst(server, network, force);
  const journal = await senders.stop();
  const faults = (await until(() => parley.isIdle(chats), DRAIN_MS))
    ? []
    : [`messages still wait after ${DRAIN_MS / 1_000} s`];
  for (const [at, chatId] of chats.entries()) {
    const { messages, total } = await parley.messages(chatId);
    const said = journal.filter((one) => one.chatId === chatId);
    const heard = network.heard.get(CONTACTS[at] ?? "") ?? [];
    const found = [...logFaults(messages, total, said), ...wireFaults(messages, heard, network.repeats)];
    faults.push(...found.map((fault) => `${CONTACTS[at]}: ${fault}`));
  }
  const heard = [...network.heard.values()];
  const calls = heard.reduce((sum, { length }) => sum + length, 0);
  const twice = heard.reduce((sum, one) => sum + extras(one), 0);
  const answered = journal.filter(({ answer }) => answer).length;
  return [
    {
      test: `kills amid delivery to ${name}`,
      howMany: `${force.rounds} random and ${force.rounds} worst kills, ${answered} acknowledged in ${chats.length} chats`,
      held: `${calls} calls, ${calls - twice} delivered in order, none lost, ${twice} extra${
        network.repeats.statusForbids ? ", all after the wait" : ", each for a kill"
      }`,
      faults,
    },
  ];
}

/** The network itself kills the server after it has accepted a message and before it responds. */
async function killAtWorst(server: DevServer, network: FakeNetwork, { rounds, random, log }: Force): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    let calls = random.between(1, 15);
    const killed = new Promise<{ gone: Promise<unknown> }>((resolve) => {
      network.weather = async () => {
        if (--calls > 0) return undefined;
        if (calls === 0) resolve(server.kill());
        return "drop";
      };
    });
    const { gone } = await Promise.race([killed, quiet(network)]);
    await gone;
    network.weather = null;
    await server.start();
    if (round % 10 === 0) log(`  ${round} kills by the network`);
  }
}

/** @throws Error if a network has not received a call for too long */
async function quiet({ kind }: FakeNetwork): Promise<never> {
  await delay(QUIET_MS, undefined, { ref: false });
  throw new Error(`${kind} was not called for ${QUIET_MS / 1_000} s`);
}
