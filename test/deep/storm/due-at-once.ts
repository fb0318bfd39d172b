import { availableParallelism } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "../../bench/statistics.ts";
import { cpuTime, workerds } from "../../support/world/processes.ts";
import { wanted } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
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
 * The clock starts with the first call. The local runtime does the work of all the chats in one thread. The fake network
 * and the sends beside run in this process, on another core: how late its own loop is counts as lateness of the service.
 */
export async function dueAtOnce({ rounds, log }: Force, { server, telegram }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channel = await telegram.channel(parley);
  wanted(200, await parley.admin("PATCH", `/channels/${channel.id}`, { settings: { perSecond: PER_SECOND } }));
  const beside = await telegram.channel(parley);
  const besideChat = await parley.chat(beside.id, "4969999");
  const begun = Date.now();
  const addresses = Array.from({ length: rounds * CHATS_A_ROUND }, (_, n) => String(4_970_000 + n));
  const chats = await atMost(
    CONNECTIONS,
    addresses.map((address) => () => parley.chat(channel.id, address)),
  );
  const count = chats.length * EACH;
  // Long enough to accept them all: a message costs less than a chat.
  const dueAt = Math.ceil((Date.now() + 20_000 + ((Date.now() - begun) * EACH) / 2) / 1_000) * 1_000;
  await atMost(
    CONNECTIONS,
    chats.flatMap((chatId) =>
      Array.from({ length: EACH }, (_, n) => () => schedule(parley, chatId, `${n} in ${chatId}`, dueAt)),
    ),
  );
  log(`  ${count} scheduled, due in ${dueAt - Date.now()} ms`);
  if (Date.now() > dueAt - 5_000)
    throw new Error("The machine is too busy: the messages were due before all were accepted");
  const calm = await sendTimes(parley, besideChat, () => Date.now() > dueAt - 2_000);
  await delay(Math.max(0, dueAt - Date.now()));
  const load = await loadOf(server.group);
  const arrived = () => addresses.reduce((sum, address) => sum + (telegram.heard.get(address)?.length ?? 0), 0);
  const patience = Date.now() + 300_000;
  const busy = await sendTimes(parley, besideChat, () => arrived() >= count * 0.9 || Date.now() > patience);
  const isDone = await until(async () => arrived() >= count, DRAIN_MS);
  const used = await load();
  const faults = isDone ? [] : [`only ${arrived()} of ${count} were sent`];
  const times = addresses.flatMap((address) => telegram.heard.get(address) ?? []).map(({ at }) => at);
  const [first = Number.NaN, ...rest] = times.sort((one, other) => one - other);
  // With each slot that passes unused, all later calls are late.
  const late = [0, ...rest.map((at, n) => at - (first + ((n + 1) * 1_000) / PER_SECOND))];
  const latest = Math.max(...late);
  const firstLate = Math.round(first - dueAt);
  if (firstLate > LATE_MS) faults.push(`the first came ${firstLate} ms after it was due`);
  if (latest > LATE_MS) faults.push(`one came ${Math.round(latest)} ms after its slot`);
  if (times.some((at) => at < dueAt)) faults.push("one came early");
  const [before, after] = [quantile(calm, 0.5), quantile(busy, 0.5)];
  if (after > before * 2 + 25) faults.push(`a send took ${after.toFixed(1)} ms, and ${before.toFixed(1)} ms before`);
  const lateness = [quantile(late, 0.5), quantile(late, 0.99), latest].map((ms) => Math.round(ms)).join(", ");
  return [
    {
      test: "messages that are due at once",
      howMany: `${count} in ${chats.length} chats, ${PER_SECOND} a second; ${busy.length} sends beside them`,
      held: `the first ${firstLate} ms after it was due; p50, p99 and latest ${lateness} ms after the slot; a send took ${after.toFixed(1)} ms (p50), before ${before.toFixed(1)}; ${used}`,
      faults,
    },
  ];
}

/** @returns a function that says how busy the runtime and this process have been since */
async function loadOf(group: number): Promise<() => Promise<string>> {
  const pids = await workerds(group);
  const runtime = async () =>
    (await Promise.all(pids.map(cpuTime))).reduce((sum: number, us) => sum + (us ?? 0) / 1_000, 0);
  const lag = monitorEventLoopDelay({ resolution: 5 });
  const [wall, own, of] = [performance.now(), process.cpuUsage(), await runtime()];
  lag.enable();
  return async () => {
    lag.disable();
    const share = (ms: number) => `${Math.round((ms / (performance.now() - wall)) * 100)} %`;
    const { user, system } = process.cpuUsage(own);
    return `of ${availableParallelism()} cores the runtime used ${share((await runtime()) - of)} of one, this process ${share((user + system) / 1_000)}, whose loop was ${Math.round(lag.percentile(99) / 1e6)} ms (p99) late`;
  };
}

async function schedule(parley: Parley, chatId: string, content: string, dueAt: number): Promise<void> {
  const body = { content, scheduledAt: new Date(dueAt).toISOString() };
  wanted(201, await parley.insist("POST", `/chats/${chatId}/messages`, body, { "Idempotency-Key": content }));
}

/** Sends one message after the other until `done`. @returns the milliseconds of each */
async function sendTimes(parley: Parley, chatId: string, done: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!done()) {
    const begun = performance.now();
    wanted(201, await parley.api("POST", `/chats/${chatId}/messages`, { content: `beside ${times.length}` }));
    times.push(performance.now() - begun);
    await delay(20);
  }
  return times;
}
