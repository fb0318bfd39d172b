import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "../../bench/statistics.ts";
import { wanted } from "../../support/world/world.ts";
import { extras, logFaults, wireFaults } from "./checks.ts";
import type { Ground } from "./ground.ts";
import type { FakeNetwork } from "./network.ts";
import { Parley } from "./parley.ts";
import { type Said, Senders } from "./senders.ts";
import { atMost, type Force, type Row, until } from "./storm.ts";

const CHATS = 6;
const EACH = 3;
const LOAD = { connections: 4, pauseMs: 60 };
const AHEAD_MS = 1_500;
const DRAIN_MS = 400_000;

/** A message that was scheduled. */
interface Planned {
  chatId: string;
  content: string;
  id: string;
  dueAt: number;
  isCanceled: boolean;
}

/** kill -9 amid promotions: each scheduled message takes one place, never early, and a canceled one is never sent. */
export async function scheduled(force: Force, { server, telegram }: Ground): Promise<Row[]> {
  const { rounds, random, log } = force;
  const parley = await Parley.begin(server);
  const channel = await telegram.channel(parley);
  const addresses = Array.from({ length: CHATS }, (_, n) => String(4_960_000 + n));
  const chats = await Promise.all(addresses.map((address) => parley.chat(channel.id, address)));
  const senders = new Senders(parley, chats, random, LOAD);
  const planned: Planned[] = [];
  for (let round = 1; round <= rounds; round++) {
    const dueAt = Date.now() + AHEAD_MS;
    const all = chats.flatMap((chatId) =>
      Array.from({ length: EACH }, (_, n) => ({ chatId, content: `planned ${round}.${n} in ${chatId}` })),
    );
    const made = await Promise.all(all.map((one) => schedule(parley, one, dueAt)));
    planned.push(...made);
    const killAt = dueAt + random.between(-100, 400);
    const canceling = cancelSome(parley, made, dueAt, () => random.between(-50, 50));
    await delay(Math.max(0, killAt - Date.now()));
    await server.kill().gone;
    await server.start();
    await canceling;
    if (round % 10 === 0) log(`  ${round} kills`);
  }
  const journal = await senders.stop();
  const faults = (await until(() => isOver(parley, chats), DRAIN_MS)) ? [] : ["messages still wait"];
  for (const [at, chatId] of chats.entries()) {
    const { messages, total } = await parley.messages(chatId);
    const heard = telegram.heard.get(addresses[at] ?? "") ?? [];
    const own = planned.filter((one) => one.chatId === chatId);
    // Those that are due together were accepted together, so each counts as a sender of its own.
    const left = own.filter(({ isCanceled }) => !isCanceled);
    const said = await Promise.all(left.map((one, n) => asSaid(parley, one, -1 - n)));
    // Cancels of messages that had their place already.
    const delivered = messages.filter(({ status }) => status !== "CANCELED");
    const canceled = messages.length - delivered.length;
    const found = [
      ...logFaults(messages, total, [
        ...journal.filter((one) => one.chatId === chatId),
        ...said,
        ...messages.filter(({ status }) => status === "CANCELED").map(canceledSaid),
      ]),
      ...wireFaults(delivered, heard, telegram.repeats),
      ...plannedFaults(own, heard),
    ];
    if (canceled > own.filter(({ isCanceled }) => isCanceled).length)
      found.push("more are canceled than were asked for");
    faults.push(...found.map((fault) => `${addresses[at]}: ${fault}`));
  }
  const heard = [...telegram.heard.values()];
  const canceled = planned.filter(({ isCanceled }) => isCanceled).length;
  return [
    {
      test: "kills amid promotions",
      howMany: `${server.kills} kills, ${planned.length} scheduled and ${journal.length} sent in ${CHATS} chats`,
      held: `each in its place once, none early, ${canceled} canceled and never sent; ${heard.reduce((sum, one) => sum + extras(one), 0)} extra calls, each for a kill`,
      faults,
    },
  ];
}

const DUE_CHATS_EACH_ROUND = 100;
const DUE_EACH = 10;
const PER_SECOND = 100;
const LATE_MS = 1_000;
const CONNECTIONS = 20;

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
    Array.from({ length: rounds * DUE_CHATS_EACH_ROUND }, (_, n) => async () => {
      return parley.chat(channel.id, String(4_970_000 + n));
    }),
  );
  const count = chats.length * DUE_EACH;
  // Long enough to accept them all.
  const dueAt = Math.ceil((Date.now() + 10_000 + count * 15) / 1_000) * 1_000;
  await atMost(
    CONNECTIONS,
    chats.flatMap((chatId) =>
      Array.from(
        { length: DUE_EACH },
        (_, n) => () => schedule(parley, { chatId, content: `${n} in ${chatId}` }, dueAt),
      ),
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

async function schedule(parley: Parley, one: { chatId: string; content: string }, dueAt: number): Promise<Planned> {
  const body = { content: one.content, scheduledAt: new Date(dueAt).toISOString() };
  const headers = { "Idempotency-Key": one.content.replaceAll(",", " ") };
  const { message } = wanted(201, await parley.insist("POST", `/chats/${one.chatId}/messages`, body, headers));
  return { ...one, id: message.id, dueAt, isCanceled: false };
}

/** Cancels one message of each chat about when it is due. It is canceled, or on its way already. */
async function cancelSome(parley: Parley, planned: Planned[], dueAt: number, jitter: () => number): Promise<void> {
  await delay(Math.max(0, dueAt + jitter() - Date.now()));
  const chosen = planned.filter((_, n) => n % EACH === 0);
  await Promise.all(
    chosen.map(async (one) => {
      const answer = await parley.insist("POST", `/chats/${one.chatId}/messages/${one.id}/cancel`, {});
      one.isCanceled = answer.status === 200;
      if (answer.status !== 200 && answer.body.code !== "not_cancelable") {
        throw new Error(`a cancel was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      }
    }),
  );
}

async function isOver(parley: Parley, chats: string[]): Promise<boolean> {
  const left = await Promise.all(
    chats.map(async (id) => wanted(200, await parley.api("GET", `/chats/${id}/scheduled`)).messages.length as number),
  );
  return left.every((count) => count === 0) && (await parley.isIdle(chats));
}

async function asSaid(parley: Parley, { chatId, content, id }: Planned, sender: number): Promise<Said> {
  const { message } = wanted(200, await parley.api("GET", `/chats/${chatId}/messages/${id}`));
  return { chatId, content, sender, keyed: true, answer: { id, seq: message.seq } };
}

function canceledSaid({ content }: { content: string }): Said {
  return { chatId: "", content, sender: 0, keyed: true, answer: null };
}

function plannedFaults(planned: Planned[], heard: { content: string; at: number }[]): string[] {
  const faults: string[] = [];
  for (const { content, dueAt, isCanceled } of planned) {
    const calls = heard.filter((one) => one.content === content);
    if (isCanceled && calls.length > 0) faults.push(`canceled and sent: ${content}`);
    const [first] = calls;
    if (first && first.at < dueAt) faults.push(`${dueAt - first.at} ms early: ${content}`);
  }
  return faults;
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
