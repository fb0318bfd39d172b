import { setTimeout as delay } from "node:timers/promises";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { type Force, killAtRandom, type Row, until } from "./storm.ts";

/** The keys, from one that is refused nearly always to one that never is. */
const KEYS = [
  { rateLimit: { limit: 1, windowSeconds: 1 } },
  { rateLimit: { limit: 20, windowSeconds: 1 } },
  { rateLimit: { limit: 21, windowSeconds: 10 } },
  { rateLimit: { limit: 300, windowSeconds: 60 } },
  { rateLimit: { limit: 2_000, windowSeconds: 10 } },
  { rateLimit: { limit: 2_000, windowSeconds: 10 }, monthlyQuota: 100_000_000 },
  { rateLimit: { limit: 10_000, windowSeconds: 60 } },
  { rateLimit: { limit: 1_000_000, windowSeconds: 3_600 } },
];
/** The largest burst, in requests at the same time. */
const AT_ONCE = 40;
/** How many bursts follow each other at once before a key rests. */
const IN_A_ROW = 12;
/** Some rests are longer than an object stays in memory. */
const RESTS_MS = { short: 1_500, long: 15_000, longShare: 0.1 };
/** The share of a limit that a key reserves at a time: what a crash may cost. */
const BLOCK = 0.05;
/** How the error of a request starts that met no server. */
const NOT_SENT = "connect ECONNREFUSED";
const AGAIN_AFTER_MS = 100;
/** Isolates return the units that they don't use within two seconds. */
const RETURN_MS = 30_000;

/** A key, and how its requests were answered. */
interface Counted {
  parley: Parley;
  limit: number;
  windowSeconds: number;
  admitted: number;
  refused: number;
  /** Nobody knows whether the key counted these. */
  unanswered: number;
}

/** Bursts of requests, first undisturbed and then amid kills: each key has counted what it admitted. */
export async function bursts(force: Force, { server }: Ground): Promise<Row[]> {
  const keys = await Promise.all(
    KEYS.map(async (limits): Promise<Counted> => {
      const parley = await Parley.begin(server, limits);
      return { parley, ...limits.rateLimit, admitted: 0, refused: 0, unanswered: 0 };
    }),
  );
  const faults: string[] = [];
  const begun = performance.now();
  const end = begun + force.minutes * 60_000;
  await Promise.all(keys.map((key) => load(key, force, faults, () => performance.now() > end)));
  const seconds = (performance.now() - begun) / 1_000;
  const isExact = async () => (await missing(keys)).every((count) => count === 0);
  if (!(await until(isExact, RETURN_MS))) {
    const counts = await missing(keys);
    faults.push(...counts.flatMap((count, at) => (count === 0 ? [] : [`key ${at} counted ${count} too many`])));
  }
  for (const [at, { admitted, limit, windowSeconds, unanswered }] of keys.entries()) {
    const most = limit * (Math.ceil(seconds / windowSeconds) + 1);
    if (admitted > most) faults.push(`key ${at} admitted ${admitted} requests, ${most} at most were allowed`);
    if (unanswered > 0) faults.push(`key ${at} left ${unanswered} requests unanswered`);
  }
  const sum = (count: "admitted" | "refused" | "unanswered") => keys.reduce((total, key) => total + key[count], 0);
  const quiet: Row = {
    test: "bursts of keys",
    howMany: `${seconds.toFixed(0)} s, ${keys.length} keys, ${sum("admitted")} admitted, ${sum("refused")} refused`,
    held: "each key counted what it admitted",
    faults: faults.splice(0),
  };
  const [admitted, killsBefore] = [sum("admitted"), server.kills];
  let isOver = false;
  const loads = Promise.all(keys.map((key) => load(key, force, faults, () => isOver)));
  // Loads that went on would be one for the next storm too.
  try {
    await killAtRandom(server, force);
  } finally {
    isOver = true;
  }
  await loads;
  const kills = server.kills - killsBefore;
  const isReturned = async () =>
    (await missing(keys)).every((count, at) => count <= blockOf(keys[at] as Counted, kills));
  await until(isReturned, RETURN_MS);
  const counts = await missing(keys);
  for (const [at, key] of keys.entries()) {
    const count = counts[at] as number;
    const most = blockOf(key, kills);
    if (count < 0 || count > most) faults.push(`key ${at} counted ${count} more than it admitted, ${most} at most`);
  }
  return [
    quiet,
    {
      test: "bursts of keys amid kills",
      howMany: `${kills} kills, ${sum("admitted") - admitted} admitted, ${sum("unanswered")} unanswered`,
      held: `no request without a count, ${counts.reduce((total, count) => total + count, 0)} counted too many in all`,
      faults,
    },
  ];
}

/** How many more requests each key has counted than it admitted. */
function missing(keys: Counted[]): Promise<number[]> {
  return Promise.all(keys.map(async ({ parley, admitted }) => (await parley.used()) - admitted));
}

/** How many requests a key may have counted too many after some kills. A lost one can have been counted twice. */
function blockOf({ limit, unanswered }: Counted, kills: number): number {
  return Math.floor(limit * BLOCK) * kills + unanswered * 2;
}

/** Sends bursts with a key. */
async function load(key: Counted, { random }: Force, faults: string[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (let n = random.between(1, IN_A_ROW); n > 0 && !isOver(); n--) {
      await Promise.all(Array.from({ length: random.between(1, AT_ONCE) }, () => ask(key, faults)));
    }
    const isLong = random.next() < RESTS_MS.longShare;
    await delay(random.between(0, isLong ? RESTS_MS.long : RESTS_MS.short));
  }
}

async function ask(key: Counted, faults: string[]): Promise<void> {
  const { status, body } = await key.parley.api("GET", "/chats");
  if (status === 200) key.admitted++;
  else if (status === 429) key.refused++;
  else if (status !== 0 && status !== 503) faults.push(`a request was answered ${status}`);
  else if (!String(body.why).includes(NOT_SENT)) key.unanswered++;
  if (status === 0) await delay(AGAIN_AFTER_MS);
}
