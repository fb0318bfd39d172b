import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { callSearchIndex } from "../../../../src/calls/call-search-index.ts";
import { SearchIndexObject } from "../../../../src/index.ts";
import { newId } from "../../../../src/model/id.ts";
import type { CandidatesAsked, IndexChange, IndexedMessage, IndexOwner } from "../../../../src/model/search-index.ts";

/** An index of a new organization, and its object. */
export function newIndex(organizationId = newId("org", null)) {
  const owner: IndexOwner = { organizationId, number: 1 };
  const object = () => env.SEARCH_INDEXES.getByName(`${organizationId}:1`);
  const index = (change: IndexChange) => callSearchIndex(env, owner, (stub) => stub.index(owner, change));
  const candidates = (asked: Partial<CandidatesAsked> & { search: string }) =>
    callSearchIndex(env, owner, (stub) => stub.candidates(organizationId, { ...EVERYTHING, ...asked }));
  const removeChat = (chatId: string, life = 1) =>
    callSearchIndex(env, owner, (stub) => stub.removeChat(organizationId, chatId, life));
  const erase = () => callSearchIndex(env, owner, (stub) => stub.erase());
  const evict = () => evictDurableObject(object());
  return { organizationId, owner, object, index, candidates, removeChat, erase, evict };
}

export type TestIndex = ReturnType<typeof newIndex>;

export const EVERYTHING = {
  before: null,
  channelId: null,
  direction: null,
  since: null,
  until: null,
  limit: 100,
} as const;

/** A change of a chat. */
export function changeOf(chatId: string, change: Partial<IndexChange>): IndexChange {
  return { chatId, life: 1, channelId: "chn_g000000000000000", put: [], remove: [], removeUpTo: 0, ...change };
}

export function messageOf(seq: number, text: string, at = Date.UTC(2026, 0, 1) + seq * 1_000): IndexedMessage {
  return { seq, at, direction: "INBOUND", text };
}

/** Gives all indexes other bounds, until the end of the test. */
export function limitIndexes(limits: Partial<typeof SearchIndexObject.limits>): void {
  const all = SearchIndexObject.limits;
  vi.spyOn(SearchIndexObject, "limits", "get").mockReturnValue({ ...all, ...limits });
}

/** What an index stores: how many messages and chats, and how many rows each table of grams has; null for one that was dropped. */
export function storedIn({ object }: Pick<TestIndex, "object">) {
  return runInDurableObject(object(), (_object, { storage: { sql } }) => {
    const count = (table: string) => sql.exec<{ n: number }>(`select count(*) as n from ${table}`).one().n;
    const tables = sql.exec<{ number: number }>("select number from gram_tables order by number").toArray();
    const names = sql.exec<{ name: string }>("select name from sqlite_master").toArray();
    const isThere = (table: string) => names.some(({ name }) => name === table);
    return {
      messages: count("messages"),
      chats: count("chats"),
      tables: tables.map(({ number }) => (isThere(`grams_${number}`) ? count(`grams_${number}`) : null)),
    };
  });
}
