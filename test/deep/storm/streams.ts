import { setTimeout as delay } from "node:timers/promises";
import { wanted } from "../../support/world/world.ts";
import { brittleLine } from "./brittle-line.ts";
import { logFaults } from "./checks.ts";
import { eventFaults, feedFaults } from "./event-checks.ts";
import type { Ground } from "./ground.ts";
import { type ChatEvent, Parley } from "./parley.ts";
import { Senders } from "./senders.ts";
import { type Force, type Row, until } from "./storm.ts";

const CHATS = 12;
const LOAD = { connections: 8, pauseMs: 50 };
const AGAIN_AFTER_MS = 100;
const PATIENCE_MS = 60_000;
/** A stream of a revoked key ends within this time. */
const REVOKED_MS = 10_000;
/** What the machine itself may add. */
const NOISE_MS = 500;

/** A reader of the feed that goes on after each lost connection. */
interface Follower {
  seen: ChatEvent[];
  /** How often it connected. */
  connections: number;
  /** Answers other than 200. */
  refused: Map<number, number>;
}

/** Polls and streams on lines that are cut all the time, and streams whose keys are revoked, while writers send. */
export async function streams(force: Force, { server }: Ground): Promise<Row[]> {
  const { random, minutes, rounds, log } = force;
  const parley = await Parley.begin(server);
  const line = await brittleLine(server.base, random);
  const web = await parley.channel("web");
  const start = wanted(200, await parley.api("GET", "/events?from=now")).cursor as string;
  const stop = new AbortController();
  const at = { base: `http://${line.host}/api/v1`, key: parley.key, start, signal: stop.signal };
  const followers = { poll: newFollower(), stream: newFollower() };
  const running = [poll(followers.poll, at), stream(followers.stream, at)];

  const chats = await Promise.all(Array.from({ length: CHATS }, (_, n) => parley.chat(web.id, `visitor-${n}`)));
  const senders = new Senders(parley, chats, random, LOAD);
  const faults: string[] = [];
  const ends: number[] = [];
  const endsAt = Date.now() + minutes * 60_000;
  for (let round = 1; round <= rounds || Date.now() < endsAt; round++) {
    if (round > rounds) {
      await delay(AGAIN_AFTER_MS);
      continue;
    }
    const { endedMs, frames } = await revokedStream(parley, server.base);
    ends.push(endedMs);
    if (frames === 0) faults.push("a stream had no frame before its key was revoked");
    if (!(endedMs <= REVOKED_MS + NOISE_MS)) faults.push(`a revoked key's stream ended after ${endedMs} ms`);
    if (round % 10 === 0) log(`  ${round} streams of revoked keys`);
  }
  const journal = await senders.stop();
  const told = new Map<string, ChatEvent[]>();
  for (const chatId of chats) told.set(chatId, await parley.events(chatId));
  const total = [...told.values()].flat().length;
  const isComplete = async () =>
    Object.values(followers).every(({ seen }) => new Set(seen.map(({ id }) => id)).size >= total);
  await until(isComplete, PATIENCE_MS);
  stop.abort();
  await Promise.all(running);
  await line.close();
  for (const chatId of chats) {
    const events = told.get(chatId) ?? [];
    const { messages, total } = await parley.messages(chatId);
    const said = journal.filter((one) => one.chatId === chatId);
    const found = [...logFaults(messages, total, said), ...eventFaults(events, messages)];
    for (const [name, { seen }] of Object.entries(followers)) {
      const own = seen.filter((event) => event.chatId === chatId);
      found.push(...feedFaults(events, own).map((fault) => `${name}: ${fault}`));
    }
    faults.push(...found.map((fault) => `${chatId}: ${fault}`));
  }
  for (const [name, { refused }] of Object.entries(followers)) {
    // The streams of lost connections count for some seconds.
    for (const [status, times] of refused) if (status !== 409) faults.push(`${name}: ${times} times ${status}`);
  }
  const texts = Object.entries(followers).map(([name, { seen, connections }]) => {
    return `${name} ${seen.length - total} repeats in ${connections} connections`;
  });
  return [
    {
      test: "polls and streams on brittle lines",
      howMany: `${line.cuts} cuts, ${total} events of 8 writers in ${CHATS} chats, ${ends.length} revoked keys`,
      held: `all seen, in order; ${texts.join(", ")}; streams ended ${Math.max(...ends)} ms after the revocation at most`,
      faults,
    },
  ];
}

function newFollower(): Follower {
  return { seen: [], connections: 0, refused: new Map() };
}

interface Line {
  base: string;
  key: string;
  /** The cursor to begin at. */
  start: string;
  signal: AbortSignal;
}

/** Polls until it is told to stop. */
async function poll(follower: Follower, { base, key, start, signal }: Line): Promise<void> {
  let after = start;
  while (!signal.aborted) {
    try {
      follower.connections++;
      const query = `wait=5&limit=100&after=${encodeURIComponent(after)}`;
      const response = await fetch(`${base}/events?${query}`, { headers: authorized(key), signal });
      if (await isRefused(follower, response)) continue;
      const { events, cursor } = (await response.json()) as { events: ChatEvent[]; cursor: string };
      follower.seen.push(...events);
      after = cursor;
    } catch {
      await delay(AGAIN_AFTER_MS);
    }
  }
}

/** Reads streams until it is told to stop. */
async function stream(follower: Follower, { base, key, start, signal }: Line): Promise<void> {
  let last = start;
  while (!signal.aborted) {
    try {
      follower.connections++;
      const headers = { ...authorized(key), "Last-Event-ID": last };
      const response = await fetch(`${base}/events/stream`, { headers, signal });
      if (await isRefused(follower, response)) continue;
      for await (const { id, data } of framesOf(response)) {
        if (data) follower.seen.push(data);
        last = id;
      }
    } catch {
      await delay(AGAIN_AFTER_MS);
    }
  }
}

async function isRefused({ refused }: Follower, response: Response): Promise<boolean> {
  if (response.status === 200) return false;
  await response.arrayBuffer();
  refused.set(response.status, (refused.get(response.status) ?? 0) + 1);
  await delay(AGAIN_AFTER_MS);
  return true;
}

/** Opens a stream with a key, revokes the key, and measures how long the stream goes on. */
async function revokedStream(parley: Parley, base: string): Promise<{ endedMs: number; frames: number }> {
  const { id, secret } = await parley.newKey();
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const response = await fetch(`${base}/api/v1/events/stream`, { headers: authorized(secret), signal: patience });
  if (response.status !== 200) throw new Error(`a stream was answered ${response.status}: ${await response.text()}`);
  let [frames, revokedAt] = [0, 0];
  for await (const { data } of framesOf(response)) {
    if (!data || ++frames > 1) continue;
    // The stream is read on meanwhile.
    void parley.admin("DELETE", `/keys/${id}`).then(({ status }) => {
      if (status === 200) revokedAt = Date.now();
    });
  }
  return { endedMs: revokedAt === 0 ? Number.NaN : Date.now() - revokedAt, frames };
}

/** The frames of a stream that came whole. `data` is null for a comment. */
async function* framesOf({ body }: Response): AsyncGenerator<{ id: string; data: ChatEvent | null }> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length) ?? null;
      const [id, data] = [field("id: "), field("data: ")];
      if (id !== null) yield { id, data: data === null ? null : JSON.parse(data) };
    }
  }
}

function authorized(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}
