import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "../../bench/statistics.ts";
import { wanted } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import type { FakeNetwork } from "./network.ts";
import { Parley } from "./parley.ts";
import { atMost, type Force, type Row, until } from "./storm.ts";

const CHATS_A_ROUND = 100;
const EACH = 10;
const PER_SECOND = 100;
const LATE_MS = 1_000;
const CONNECTIONS = 20;
const DRAIN_MS = 400_000;

/**
 * Messages of many chats that are due in the same second: each goes within a second of its slot on the channel's clock.
 * The clock starts with the first call. The local runtime does the work of all the chats in one thread.
 */
export async function dueAtOnce({ rounds, log }: Force, { server, telegram }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channel = await telegram.channel(parley);
  wanted(200, await parley.admin("PATCH", `/channels/${channel.id}`, { settings: { perSecond: PER_SECOND } }));
  const beside = await telegram.channel(parley);
  const besideChat = await parley.chat(beside.id, "4969999");
  const chats = await atMost(
    CONNECTIONS,
    Array.from({ length: rounds * CHATS_A_ROUND }, (_, n) => async () => {
      return parley.chat(channel.id, String(4_970_000 + n));
    }),
  );
  const count = chats.length * EACH;
  // Long enough to accept them all.
  const dueAt = Math.ceil((Date.now() + 10_000 + count * 15) / 1_000) * 1_000;
  await atMost(
    CONNECTIONS,
    chats.flatMap((chatId) =>
      Array.from({ length: EACH }, (_, n) => () => schedule(parley, chatId, `${n} in ${chatId}`, dueAt)),
    ),
  );
  log(`  ${count} scheduled`);
  if (Date.now() > dueAt - 5_000)
    throw new Error("The machine is too busy: the messages were due before all were accepted");
  const calm = await sendTimes(parley, besideChat, async () => Date.now() > dueAt - 2_000);
  const calls = () => callsAfter(telegram, 4_970_000, chats.length);
  await delay(Math.max(0, dueAt - Date.now()));
  const isDone = async () => calls().length >= count;
  const busy = await sendTimes(
    parley,
    besideChat,
    async () => calls().length >= count * 0.9 || Date.now() > dueAt + 300_000,
  );
  const faults = (await until(isDone, DRAIN_MS)) ? [] : [`only ${calls().length} of ${count} were sent`];
  const times = calls().sort((one, other) => one - other);
  const [first = Number.NaN] = times;
  const latest = Math.max(...times.map((at, n) => at - (first + (n * 1_000) / PER_SECOND)));
  const firstLate = Math.round(first - dueAt);
  if (latest > LATE_MS) {
    faults.push(`one came ${Math.round(latest)} ms after its slot; the first ${firstLate} ms after it was due`);
  }
  if (times.some((at) => at < dueAt)) faults.push("one came early");
  const [before, after] = [quantile(calm, 0.5), quantile(busy, 0.5)];
  if (after > before * 2 + 25) faults.push(`a send took ${after.toFixed(1)} ms, and ${before.toFixed(1)} ms before`);
  return [
    {
      test: "messages that are due at once",
      howMany: `${count} in ${chats.length} chats, ${PER_SECOND} a second; ${busy.length} sends beside them`,
      held: `the first ${firstLate} ms after it was due, the latest ${Math.round(latest)} ms after its slot; a send took ${after.toFixed(1)} ms (p50), before ${before.toFixed(1)}`,
      faults,
    },
  ];
}

async function schedule(parley: Parley, chatId: string, content: string, dueAt: number): Promise<void> {
  const body = { content, scheduledAt: new Date(dueAt).toISOString() };
  wanted(201, await parley.insist("POST", `/chats/${chatId}/messages`, body, { "Idempotency-Key": content }));
}

/** When the network got calls for the chats of a range of addresses. */
function callsAfter({ heard }: FakeNetwork, first: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => heard.get(String(first + n)) ?? []).flatMap((calls) =>
    calls.map(({ at }) => at),
  );
}

/** Sends one message after the other until `done`. @returns the milliseconds of each */
async function sendTimes(parley: Parley, chatId: string, done: () => Promise<boolean>): Promise<number[]> {
  const times: number[] = [];
  while (!(await done())) {
    const begun = performance.now();
    wanted(201, await parley.api("POST", `/chats/${chatId}/messages`, { content: `beside ${times.length}` }));
    times.push(performance.now() - begun);
    await delay(20);
  }
  return times;
}
