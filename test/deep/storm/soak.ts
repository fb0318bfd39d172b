import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "../../bench/statistics.ts";
import { cpuTime, memoryOf, workerds } from "../../support/world/processes.ts";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { type Force, type Row, until } from "./storm.ts";

const CONNECTIONS = 4;
const PAUSE_MS = 5;
const SHARES = { list: 0.6, send: 0.3 };
const CHATS_A_NETWORK = 10;
const PATIENCE_MS = 120_000;
const SAMPLE_EVERY_MS = 1_000;
/** A machine that stood still for this long says nothing of the service. */
const STALL_MS = 1_000;
/** Calls in a part of the run: enough that its slowest hundredth says something. */
const ENOUGH = 1_000;
/** Samples: enough that one garbage collection more or less does not count. */
const ENOUGH_SAMPLES = 30;
const MAX_DRIFT = 0.2;
/** What the machine itself may add to the slowest hundredth, beside a fifth. */
const NOISE_MS = 25;
const MAX_GROWTH = 0.1;
/** The reports to the list of chats are written within `settleMs`. A late one may fall into one sample; a loop falls into all. */
const IDLE = { settleMs: 5_000, samples: 5, sampleMs: 2_000 };
/** The CPU that an idle service may use, as a share of one core. */
const MAX_IDLE = 0.05;

/** A call of the soak: when it began, counted from the first one, and how long it took. */
export interface Sample {
  at: number;
  ms: number;
}

/** Lists, sends and webhooks for a while: nothing fails, nothing gets slower, nothing grows, and then all is quiet. */
export async function soak({ minutes, random }: Force, { server, telegram, whatsapp }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const networks = [telegram, whatsapp];
  const addresses = Array.from({ length: CHATS_A_NETWORK }, (_, n) => String(4_940_000 + n));
  const chats: string[] = [];
  const web = await parley.channel("web");
  for (const network of networks) {
    const channel = await network.channel(parley);
    for (const address of addresses) chats.push(await parley.chat(channel.id, address));
  }
  for (const address of addresses) chats.push(await parley.chat(web.id, address));
  const faults: string[] = [];
  const samples: Sample[] = [];
  const memory: number[] = [];
  const begun = Date.now();
  const end = begun + minutes * 60_000;
  let [events, stalls] = [0, 0];

  async function one(): Promise<number> {
    const what = random.next();
    const path = `/chats/${random.pick(chats)}/messages`;
    if (what < SHARES.list) return (await parley.api("GET", path)).status;
    if (what < SHARES.list + SHARES.send) return (await parley.api("POST", path, { content: "Hello" })).status;
    return random.pick(networks).deliver(++events, random.pick(addresses), `event ${events}`);
  }
  async function connection(): Promise<void> {
    while (Date.now() < end) {
      const at = Date.now() - begun;
      const status = await one();
      samples.push({ at, ms: Date.now() - begun - at });
      if (status !== 200 && status !== 201) faults.push(`a call was answered ${status}`);
      await delay(PAUSE_MS);
    }
  }
  const stoodStill: { from: number; to: number }[] = [];
  async function watch(): Promise<void> {
    for (let last = Date.now(); last < end; ) {
      await delay(SAMPLE_EVERY_MS);
      const now = Date.now();
      if (now - last > SAMPLE_EVERY_MS + STALL_MS) stoodStill.push({ from: last - begun, to: now - begun });
      last = now;
      memory.push(await memoryOf(server.group));
    }
  }
  await Promise.all([watch(), ...Array.from({ length: CONNECTIONS }, connection)]);
  stalls = stoodStill.length;
  const fair = samples.filter(({ at, ms }) => !stoodStill.some(({ from, to }) => at < to && at + ms > from));
  faults.push(...driftFaults(fair), ...growthFaults(memory));
  if (!(await until(() => parley.isIdle(chats), PATIENCE_MS))) faults.push("messages still wait");
  const idle = await idleShare(server.group);
  if (idle > MAX_IDLE) faults.push(`${(idle * 100).toFixed(1)}% of a core when idle`);
  const [early, late] = thirds(fair);
  const [before, after] = memoryOfParts(memory);
  return [
    {
      test: "soak",
      howMany: `${(minutes * 60).toFixed(0)} s, ${samples.length} calls by ${CONNECTIONS} connections, ${fair.length} of them not while the machine stood still (${stalls} times)`,
      held: `no error; p99 ${p99(early)} ms, then ${p99(late)} ms${fair.length < ENOUGH * 3 ? " (too few to judge)" : ""}; memory ${before} MB, then ${after} MB; idle ${(idle * 100).toFixed(1)}% of a core`,
      faults,
    },
  ];
}

/** Whether the slowest hundredth of the last third is slower than that of the first. */
export function driftFaults(samples: Sample[]): string[] {
  const [early, late] = thirds(samples);
  if (Math.min(early.length, late.length) < ENOUGH) return [];
  const [before, after] = [p99(early), p99(late)];
  return after > before * (1 + MAX_DRIFT) + NOISE_MS ? [`p99 went from ${before} ms to ${after} ms`] : [];
}

/** Whether memory grew, in megabytes; the first fifth is for the service to get warm. */
export function growthFaults(memory: number[]): string[] {
  if (memory.length < ENOUGH_SAMPLES) return [];
  const [before, after] = memoryOfParts(memory);
  return after > before * (1 + MAX_GROWTH) ? [`memory went from ${before} MB to ${after} MB`] : [];
}

function memoryOfParts(memory: number[]): [number, number] {
  const fifth = memory.length / 5;
  const middle = (from: number, to: number) => Math.round(quantile(memory.slice(from, to), 0.5));
  return [middle(Math.floor(fifth), Math.ceil(fifth * 2)), middle(Math.floor(fifth * 4), memory.length)];
}

function thirds(samples: Sample[]): [Sample[], Sample[]] {
  const length = Math.max(0, ...samples.map(({ at }) => at));
  return [samples.filter(({ at }) => at < length / 3), samples.filter(({ at }) => at > (length * 2) / 3)];
}

function p99(samples: Sample[]): number {
  return quantile(
    samples.map(({ ms }) => ms),
    0.99,
  );
}

/** The CPU that the runtime uses when nobody calls, as a share of one core: the least of several samples. 0 if the system does not say. */
async function idleShare(group: number): Promise<number> {
  const spent = async () => {
    const times = await Promise.all((await workerds(group)).map(cpuTime));
    return times.reduce<number>((sum, time) => sum + (time ?? 0), 0);
  };
  await delay(IDLE.settleMs);
  let least = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < IDLE.samples && least > MAX_IDLE; sample++) {
    const before = await spent();
    const begun = performance.now();
    await delay(IDLE.sampleMs);
    least = Math.min(least, ((await spent()) - before) / 1_000 / (performance.now() - begun));
  }
  return least;
}
