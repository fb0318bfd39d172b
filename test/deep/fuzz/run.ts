import fc from "fast-check";
import type { Place, Told } from "./fixtures.ts";
import { faultOf } from "./judge.ts";
import { type Drawn, requests } from "./requests.ts";
import { SHAPES } from "./routes.ts";

const AT_ONCE = 20;
const DRAWN_AT_ONCE = 1_000;
/** Longer than anything takes on a machine that is busy with other things too. */
const HANGS_SECONDS = 120;

/** What became of the requests of a run. */
export interface Tally {
  requests: number;
  statuses: Map<number, number>;
  /** Routes that answered to their own method with what they are there for. */
  good: Set<string>;
}

/** Makes this many requests, twenty at a time. @throws Error that names the first one with a forbidden answer */
export async function fuzz(
  place: Place,
  { count, seed, onThousand }: { count: number; seed: number; onThousand?: (tally: Tally) => void },
): Promise<Tally> {
  const tally: Tally = { requests: 0, statuses: new Map(), good: new Set() };
  const drawn = draw(count, seed);
  const caller = async () => {
    for (const each of drawn) {
      await one(place, each, tally);
      if (tally.requests % 1_000 === 0) onThousand?.(tally);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return tally;
}

/** The same requests for a seed each time; what they meet may differ, because twenty are under way. */
function* draw(count: number, seed: number): Generator<Drawn> {
  for (let at = 0; at < count; at += DRAWN_AT_ONCE) {
    yield* fc.sample(requests, { numRuns: Math.min(DRAWN_AT_ONCE, count - at), seed: (seed + at) | 0 });
  }
}

async function one(place: Place, drawn: Drawn, tally: Tally): Promise<void> {
  const told = await inTime(place.ask(drawn)).catch((error: unknown) => {
    throw new Error(`${String(error)} at the ${tally.requests}th request, ${JSON.stringify(drawn).slice(0, 2_000)}`);
  });
  const { status, text } = told;
  tally.requests++;
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
  if (status < 400 && drawn.route.startsWith(`${drawn.method} `)) tally.good.add(drawn.route);
  const fault = faultOf(drawn.method, drawn.route, told) ?? (await faultOfRead(place, drawn, told));
  if (fault !== null)
    throw new Error(`${fault} in the answer to ${JSON.stringify(drawn).slice(0, 2_000)}: ${text.slice(0, 500)}`);
}

/** The fields that delivery changes. */
const DELIVERY = {
  status: "",
  error: null,
  updatedAt: "",
  sentAt: undefined,
  deliveredAt: undefined,
  readAt: undefined,
  failedAt: undefined,
};

/** What was stored must be read as it was answered, but for what delivery has made of it since. */
async function faultOfRead(place: Place, { route, caller }: Drawn, { status, body }: Told): Promise<string | null> {
  if (status !== 201 || caller !== "right" || route !== "POST /api/v1/chats/:id/messages") return null;
  const lasting = (message: object) => JSON.stringify({ ...message, ...DELIVERY });
  const read = await place.read(body.message);
  if (read.status === 404) return null;
  return read.status === 200 && lasting(read.body.message) === lasting(body.message) ? null : `${read.text} was read`;
}

/** Counts seconds in which this process ran: one that is stopped for a while blames nobody for it. */
async function inTime(asked: Promise<Told>): Promise<Told> {
  let timer: ReturnType<typeof setInterval> | undefined;
  const late = new Promise<never>((_, reject) => {
    let seconds = 0;
    timer = setInterval(() => ++seconds === HANGS_SECONDS && reject(new Error("No answer")), 1_000);
  });
  return Promise.race([asked, late]).finally(() => clearInterval(timer));
}

/** The routes that never did what they are there for: of those a run has shown nothing. */
export function neverGood({ good }: Tally): string[] {
  return Object.keys(SHAPES).filter((route) => !good.has(route));
}
