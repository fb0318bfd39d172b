import { setTimeout as delay } from "node:timers/promises";
import { wanted } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import { type Message, Parley } from "./parley.ts";
import type { Random } from "./random.ts";
import type { Force, Row } from "./storm.ts";

const WRITERS = 4;
const CHATS = 20;
/** The share of the writers' messages for the chat that is read. */
const SHARE = 0.8;
const MAX_PAGE = 100;

/** The inputs and the state of a reader. */
interface Place {
  parley: Parley;
  random: Random;
  chatId: string;
  channelId: string;
  /** The highest seq that a writer got for the chat. */
  newest: () => number;
  isOver: () => boolean;
  faults: string[];
  counts: Record<"walks" | "tails" | "pages" | "lists", number>;
}

/** Writers and readers of one chat and of the list of chats. Reading with cursors misses and repeats nothing. */
export async function reading({ minutes, random }: Force, { server }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channelId = (await parley.channel("web")).id;
  const chatId = await parley.chat(channelId, "visitor");
  const others = await Promise.all(Array.from({ length: CHATS }, (_, n) => parley.chat(channelId, `other-${n}`)));
  const end = Date.now() + minutes * 60_000;
  let [newest, written] = [0, 0];
  const isOver = () => Date.now() > end;
  async function write(nth: number): Promise<void> {
    for (let n = 1; !isOver(); n++) {
      const to = random.next() < SHARE ? chatId : random.pick(others);
      const content = `message ${n} of writer ${nth}`;
      const { message } = wanted(201, await parley.api("POST", `/chats/${to}/messages`, { content }));
      written++;
      if (to === chatId) newest = Math.max(newest, message.seq);
    }
  }
  wanted(201, await parley.api("POST", `/chats/${chatId}/messages`, { content: "the first" }));
  newest = 1;
  const counts = { walks: 0, tails: 0, pages: 0, lists: 0 };
  const place: Place = { parley, random, chatId, channelId, newest: () => newest, isOver, faults: [], counts };
  const readers = [walks, walks, walks, tail, tail, pages, pages, lists];
  const writers = Promise.all(Array.from({ length: WRITERS }, (_, nth) => write(nth)));
  await Promise.all([writers, ...readers.map((read) => read(place))]);
  return [
    {
      test: "reading while writing",
      howMany: `${(minutes * 60).toFixed(0)} s, ${written} written by ${WRITERS}, ${counts.walks} walks, ${counts.tails} steps of a tail, ${counts.pages} pages, ${counts.lists} walks of the chats by ${readers.length} readers`,
      held: "by cursor no row twice and none skipped, no page with a hole, no total fell",
      faults: place.faults,
    },
  ];
}

/** Reads from the newest message to the first. */
async function walks(place: Place): Promise<void> {
  const { random, faults, counts } = place;
  while (!place.isOver()) {
    const known = place.newest();
    const limit = random.between(1, MAX_PAGE);
    const seqs: number[] = [];
    let cursor = "";
    for (let hasMore = true; hasMore; ) {
      const page = await messages(place, `limit=${limit}${cursor && `&before=${cursor}`}`);
      seqs.push(...page.messages.map(({ seq }) => seq));
      hasMore = page.pagination.hasMore && page.messages.length > 0;
      cursor = page.messages.at(-1)?.id ?? "";
      // A chat that grows faster than it is read has no end.
      if (place.isOver()) break;
    }
    faults.push(...walkFaults(seqs, known, !place.isOver()));
    counts.walks++;
  }
}

/** Follows the writers, from the first message to the last. */
async function tail(place: Place): Promise<void> {
  const { faults, counts, random } = place;
  const first = (await messages(place, "limit=1&page=1")).messages[0] as Message;
  let [cursor, seq] = [first.id, first.seq];
  for (;;) {
    const [isLast, known] = [place.isOver(), place.newest()];
    const page = await messages(place, `limit=${random.between(1, MAX_PAGE)}&after=${cursor}`);
    const seqs = page.messages.map((message) => message.seq).reverse();
    faults.push(...tailFaults(seq, seqs));
    [cursor, seq] = [page.messages[0]?.id ?? cursor, seqs.at(-1) ?? seq];
    counts.tails++;
    if (page.pagination.hasMore) continue;
    if (seq < known) faults.push(`a tail ended at ${seq}, ${known} was stored before`);
    if (isLast) return;
    await delay(5);
  }
}

/** Reads any page. Its rows must match `total`. */
async function pages(place: Place): Promise<void> {
  const { random, faults, counts } = place;
  let before = 0;
  while (!place.isOver()) {
    const known = Math.max(before, place.newest());
    const limit = random.between(1, MAX_PAGE);
    const page = random.between(1, Math.ceil(known / limit));
    const answer = await messages(place, `limit=${limit}&page=${page}`);
    const { total } = answer.pagination;
    faults.push(...pageFaults(answer.messages, { page, limit, total }, known));
    before = Math.max(before, total);
    counts.pages++;
  }
}

/**
 * Reads the channel's chats while their order changes. If a chat was active since, `before` continues from its new
 * position, and can repeat other chats.
 */
async function lists({ parley, random, channelId, isOver, faults, counts }: Place): Promise<void> {
  let before = 0;
  while (!isOver()) {
    const limit = random.between(1, CHATS);
    const ids: string[] = [];
    const wentOnFrom = new Map<string, string | null>();
    for (let hasMore = true; hasMore; ) {
      const cursor = ids.length > 0 ? `&before=${ids.at(-1)}` : "";
      const answer = await parley.api("GET", `/chats?channel=${channelId}&limit=${limit}${cursor}`);
      const { chats, pagination } = wanted(200, answer);
      const isRepeated = chats.some(({ id }: { id: string }) => ids.includes(id));
      ids.push(...chats.map(({ id }: { id: string }) => id));
      if (isRepeated) {
        const now = wanted(200, await parley.api("GET", `/chats?channel=${channelId}&limit=100`)).chats;
        const hasMoved = now.some(
          ({ id, lastMessageAt }: Listed) => wentOnFrom.has(id) && wentOnFrom.get(id) !== lastMessageAt,
        );
        if (!hasMoved) faults.push("a walk of the chats saw one twice");
        break;
      }
      const last: Listed | undefined = chats.at(-1);
      if (last) wentOnFrom.set(last.id, last.lastMessageAt);
      hasMore = pagination.hasMore && chats.length > 0;
      if (pagination.total < before) faults.push(`the total of chats fell from ${before} to ${pagination.total}`);
      before = Math.max(before, pagination.total);
    }
    counts.lists++;
  }
}

interface Listed {
  id: string;
  lastMessageAt: string | null;
}

interface Page {
  messages: Message[];
  pagination: { total: number; hasMore: boolean };
}

async function messages({ parley, chatId }: Place, query: string): Promise<Page> {
  return wanted(200, await parley.api("GET", `/chats/${chatId}/messages?${query}`));
}

/**
 * The faults of reading backwards from the newest message: `seqs` in the order of reading, and `known` messages that
 * were stored before. A read that stopped early need not reach the first message.
 */
export function walkFaults(seqs: number[], known: number, isWhole: boolean): string[] {
  const faults: string[] = [];
  const [newest = 0] = seqs;
  if (newest < known) faults.push(`a walk began at ${newest}, ${known} was stored before`);
  for (const [at, seq] of seqs.entries()) {
    const expected = newest - at;
    if (seq === expected) continue;
    faults.push(`a walk saw ${seq} in place of ${expected}`);
    break;
  }
  if (isWhole && seqs.at(-1) !== 1) faults.push(`a walk ended at ${seqs.at(-1)}`);
  return faults;
}

/** The faults of a step of a reader that had seen `seq`. */
export function tailFaults(seq: number, seqs: number[]): string[] {
  const wrong = seqs.findIndex((one, at) => one !== seq + at + 1);
  return wrong < 0 ? [] : [`a tail saw ${seqs[wrong]} in place of ${seq + wrong + 1}`];
}

/** The faults of a page, given the number of messages that were stored or reported before the request. */
export function pageFaults(
  messages: Pick<Message, "seq">[],
  { page, limit, total }: { page: number; limit: number; total: number },
  known: number,
): string[] {
  const faults: string[] = [];
  if (total < known) faults.push(`a total fell from ${known} to ${total}`);
  const high = total - (page - 1) * limit;
  const expected = Array.from({ length: Math.max(0, Math.min(limit, high)) }, (_, at) => high - at);
  const seqs = messages.map(({ seq }) => seq);
  if (String(seqs) !== String(expected)) {
    faults.push(`page ${page} of ${limit} and ${total} went from ${seqs[0]} to ${seqs.at(-1)}`);
  }
  return faults;
}
