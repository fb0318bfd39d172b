import { setTimeout as delay } from "node:timers/promises";
import { median } from "../../bench/statistics.ts";
import { logFaults } from "./checks.ts";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { Senders } from "./senders.ts";
import { type Force, killAtRandom, type Row } from "./storm.ts";

const CHATS = 6;
const LOAD = { connections: 8, pauseMs: 2 };

/** kill -9 amid senders: what was answered 201 is in its chat once, where it was answered to be. */
export async function acknowledged(force: Force, { server }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const web = await parley.channel("web");
  const chats = await Promise.all(Array.from({ length: CHATS }, (_, n) => parley.chat(web.id, `visitor-${n}`)));
  const senders = new Senders(parley, chats, force.random, LOAD);
  const starts = await killAtRandom(server, force);
  await delay(100);
  const journal = await senders.stop();
  const faults: string[] = [];
  let stored = 0;
  for (const chatId of chats) {
    const { messages, total } = await parley.messages(chatId);
    stored += total;
    const said = journal.filter((one) => one.chatId === chatId);
    faults.push(...logFaults(messages, total, said));
  }
  const answered = journal.filter(({ answer }) => answer).length;
  return [
    {
      test: "kills amid senders",
      howMany: `${server.kills} kills, ${answered} acknowledged by 8 connections in ${CHATS} chats`,
      held: `${stored} stored, each acknowledged one once, dense; up again in ${median(starts)} ms`,
      faults,
    },
  ];
}
