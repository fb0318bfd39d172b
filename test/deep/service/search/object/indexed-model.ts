import { expect } from "vitest";
import { folded } from "../../../../../src/model/folding.ts";
import { newId } from "../../../../../src/model/id.ts";
import type { Candidate, CandidatesAsked, IndexedMessage } from "../../../../../src/model/search-index.ts";
import { changeOf, EVERYTHING, newIndex } from "../../../../service/search/object/fixtures.ts";
import type { Random } from "../../../../support/random.ts";

interface Known extends IndexedMessage {
  chatId: string;
  channelId: string;
}

const START = Date.UTC(2026, 2, 1);
const PIECES = [
  ..."café Ünï Straße İı Ælf ßß ab AB aB",
  ..."สวัสดีครับ กำ",
  ..."我们明天见 你好",
  ..."مُحَمَّد مرحبا",
  ..."😀😁👍🏽👩‍👩‍👧",
  ...`"*-()'^:+{}[]\\.,;!?_&|<>~#@`,
  " AND ",
  " OR ",
  " NEAR(",
  " NOT ",
  "\0",
  "\n",
  "\uffff",
  "\ud83d",
];

/**
 * An index and a plain list of the same messages. A search of the list is `includes`, so that any difference is a fault of
 * the index.
 */
export class IndexedModel {
  readonly index = newIndex();
  readonly #random: Random;
  readonly #chats: { id: string; channelId: string; next: number }[];
  readonly #channels = [newId("chn", null), newId("chn", null)];
  readonly #known = new Map<string, Known>();

  constructor(random: Random, chats: number) {
    this.#random = random;
    this.#chats = Array.from({ length: chats }, () => this.#newChat());
  }

  /** Something happens to the index: mostly new messages, some of them late or at the same time as others. */
  async act(): Promise<void> {
    const chance = this.#random.between(0, 99);
    const chat = this.#random.pick(this.#chats);
    if (chance < 70) return this.#put(chat, this.#newMessages(chat));
    if (chance < 80) return this.#edit(chat);
    if (chance < 88) return this.#remove(chat);
    if (chance < 93) return this.#removeUpTo(chat);
    if (chance < 97) return this.index.evict();
    await this.index.removeChat(chat.id);
    this.#forget(chat.id, () => true);
  }

  /** Walks a search to its end and compares it with the list. */
  async compare(): Promise<void> {
    const asked = this.#search();
    const limit = this.#random.between(1, 7);
    const found: Candidate[] = [];
    for (let before: Candidate | null = null; ; ) {
      const page: Awaited<ReturnType<typeof this.index.candidates>> = await this.index.candidates({
        ...asked,
        before,
        limit,
      });
      expect(page.candidates.length).toBeLessThanOrEqual(limit);
      found.push(...page.candidates);
      if (!page.hasMore) break;
      expect(page.candidates).toHaveLength(limit);
      before = found.at(-1) as Candidate;
    }
    const keys = found.map(keyOf);
    expect(keys, "no candidate comes twice").toEqual([...new Set(keys)]);
    expect(found, "in order").toEqual(found.toSorted(order));
    // A chat verifies each candidate.
    const verified = keys.filter((key) => this.#known.get(key)?.text.includes(asked.search));
    expect(verified, JSON.stringify(asked)).toEqual(this.#scan(asked).map(keyOf));
    expect(
      keys.filter((key) => !this.#known.has(key)),
      "what was removed",
    ).toEqual([]);
  }

  #scan({ search, since, until, channelId, direction }: CandidatesAsked): Candidate[] {
    return [...this.#known.values()]
      .filter(({ text }) => text.includes(search))
      .filter(({ at }) => (since === null || at >= since) && (until === null || at <= until))
      .filter((each) => (channelId ?? each.channelId) === each.channelId)
      .filter((each) => (direction ?? each.direction) === each.direction)
      .toSorted(order);
  }

  /** A part of a text that is there, or a text of its own. */
  #search(): CandidatesAsked {
    const random = this.#random;
    const known = [...this.#known.values()];
    const { text, at } = known.length > 0 ? random.pick(known) : { text: "AB", at: START };
    const from = random.between(0, Math.max(0, text.length - 2));
    const part = text.slice(from, from + random.pick([2, 2, 3, 4, 6, 40]));
    const search = part.length < 2 || random.next() < 0.2 ? folded(this.#text(1, 3)) : part;
    const bound = () => (random.next() < 0.2 ? at + random.between(-3_000, 3_000) : null);
    return {
      ...EVERYTHING,
      search: search.length < 2 ? "AB" : search,
      channelId: random.next() < 0.2 ? random.pick(this.#channels) : null,
      direction: random.next() < 0.2 ? "OUTBOUND" : null,
      since: bound(),
      until: bound(),
    };
  }

  async #put(chat: { id: string; channelId: string }, put: IndexedMessage[]): Promise<void> {
    const change = changeOf(chat.id, { channelId: chat.channelId, put });
    // A repeated change changes nothing.
    for (let times = this.#random.pick([1, 1, 1, 2]); times > 0; times--) await this.index.index(change);
    for (const message of put) {
      const known = { ...message, chatId: chat.id, channelId: chat.channelId };
      this.#known.set(keyOf(known), known);
    }
  }

  #newMessages(chat: { next: number }): IndexedMessage[] {
    const random = this.#random;
    return Array.from({ length: random.between(1, 4) }, () => ({
      seq: chat.next++,
      at: START + random.pick([0, 1, 1_000, 60_000]) * random.between(0, 20),
      direction: random.pick(["INBOUND", "OUTBOUND"] as const),
      text: folded(this.#text(0, 30)),
    }));
  }

  #text(least: number, most: number): string {
    return Array.from({ length: this.#random.between(least, most) }, () => this.#random.pick(PIECES)).join("");
  }

  async #edit(chat: { id: string; channelId: string }): Promise<void> {
    const own = this.#of(chat.id);
    if (own.length === 0) return;
    const { seq, at, direction } = this.#random.pick(own);
    await this.#put(chat, [{ seq, at, direction, text: folded(this.#text(0, 30)) }]);
  }

  async #remove(chat: { id: string; channelId: string; next: number }): Promise<void> {
    const remove = Array.from({ length: 3 }, () => this.#random.between(1, chat.next));
    const put = this.#random.next() < 0.3 ? this.#newMessages(chat) : [];
    await this.index.index(changeOf(chat.id, { channelId: chat.channelId, remove, put }));
    this.#forget(chat.id, (seq) => remove.includes(seq) && !put.some((message) => message.seq === seq));
    await this.#put(chat, put);
  }

  async #removeUpTo(chat: { id: string; next: number }): Promise<void> {
    const removeUpTo = this.#random.between(1, chat.next);
    await this.index.index(changeOf(chat.id, { removeUpTo }));
    this.#forget(chat.id, (seq) => seq <= removeUpTo);
  }

  #forget(chatId: string, isGone: (seq: number) => boolean): void {
    for (const message of this.#of(chatId)) if (isGone(message.seq)) this.#known.delete(keyOf(message));
  }

  #of(chatId: string): Known[] {
    return [...this.#known.values()].filter((message) => message.chatId === chatId);
  }

  #newChat() {
    return { id: newId("cht", null), channelId: this.#random.pick(this.#channels), next: 1 };
  }
}

function keyOf({ chatId, seq }: Pick<Candidate, "chatId" | "seq">): string {
  return `${chatId}/${seq}`;
}

function order(a: Candidate, b: Candidate): number {
  if (a.at !== b.at) return b.at - a.at;
  if (a.chatId === b.chatId) return b.seq - a.seq;
  return a.chatId < b.chatId ? 1 : -1;
}
