import { setTimeout as delay } from "node:timers/promises";
import { median } from "../../bench/statistics.ts";
import { wanted } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { atMost, type Force, type Row, until } from "./storm.ts";

const CHATS = 20;
const CONNECTIONS = 8;
const BUSY_SECONDS = 20;
/** Nothing may be under way at the kill, nor about to be: an attempt that is cut off waits for a minute. */
const AHEAD_MS = { least: 5_000, most: 30_000 };
/** Far below the minute for which an attempt that is cut off waits. */
const MOST_MS = 30_000;
const PATIENCE_MS = 60_000;

/** Alarms that fall due while the service is dead: the next start makes up for them, and nobody calls for it. */
export async function alarms({ rounds, random, log }: Force, { server, telegram }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channel = await telegram.channel(parley);
  const lines = await Promise.all(
    Array.from({ length: CHATS }, async () => {
      const address = String(random.between(1e9, 9e9));
      return { address, chatId: await parley.chat(channel.id, address) };
    }),
  );
  const faults: string[] = [];
  const waits: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const content = `due ${round}`;
    telegram.busy = () => true;
    telegram.busySeconds = BUSY_SECONDS;
    await atMost(
      CONNECTIONS,
      lines.map((line) => () => parley.insist("POST", `/chats/${line.chatId}/messages`, { content })),
    );
    let due: number[] = [];
    const allWait = async () => {
      due = await Promise.all(lines.map((line) => dueAt(parley, line.chatId)));
      const ahead = due.map((at) => at - Date.now());
      return Math.min(...ahead) > AHEAD_MS.least && Math.max(...ahead) < AHEAD_MS.most;
    };
    if (!(await until(allWait, PATIENCE_MS))) faults.push(`round ${round}: not all messages came to wait`);
    await server.kill().gone;
    telegram.busy = null;
    await delay(Math.max(0, Math.max(...due) - Date.now()));
    await server.start();
    const up = Date.now();
    const heard = () => lines.map(({ address }) => telegram.heard.get(address)?.find((one) => one.content === content));
    await until(async () => heard().every((one) => one), PATIENCE_MS);
    const late = heard().map((one) => (one ? Math.max(0, one.at - up) : null));
    waits.push(...late.filter((ms) => ms !== null));
    faults.push(...lateFaults(late).map((fault) => `round ${round}: ${fault}`));
    if (round % 10 === 0) log(`  ${round} kills before alarms`);
  }
  return [
    {
      test: "alarms that fell due meanwhile",
      howMany: `${rounds} kills, ${CHATS} alarms each`,
      held: `all fired on their own, ${median(waits)} ms after the start, ${Math.max(...waits)} ms at most`,
      faults,
    },
  ];
}

/** What is wrong with alarms that were due before a start; milliseconds after it, null for those that never fired. */
export function lateFaults(late: (number | null)[]): string[] {
  return late.flatMap((ms) => {
    if (ms === null) return ["an alarm did not fire"];
    return ms > MOST_MS ? [`an alarm fired ${ms} ms after the start`] : [];
  });
}

/** When the chat's first message is to be tried again; infinite where that is not known. */
async function dueAt(parley: Parley, chatId: string): Promise<number> {
  const { queue } = wanted(200, await parley.admin("GET", `/chats/${chatId}`));
  return queue.nextAttemptAt === null ? Number.POSITIVE_INFINITY : Date.parse(queue.nextAttemptAt);
}
