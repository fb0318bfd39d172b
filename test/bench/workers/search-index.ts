import * as service from "../../../src/index.ts";
import type { CandidatesAnswer, CandidatesAsked, IndexChange } from "../../../src/model/search-index.ts";
import { settleEach } from "../../../src/platform/concurrency.ts";
import { mergedCandidates } from "../../../src/search/merged-candidates.ts";
import { INDEXES_AT_ONCE } from "../../../src/search/search-messages.ts";
import { messageOf } from "../searched-messages.ts";
import type { Turn } from "../step-call.ts";
import { endTurns, watchTurns } from "./turns.ts";

export interface Fill {
  from: number;
  count: number;
  /** How many messages there will be: their time is spread over two years. */
  of: number;
  /** One chat after the other, each with messages of all times. */
  isLate: boolean;
  /** How many indexes share the messages, the oldest in the first. */
  indexes: number;
}

/** Chats that lose all messages, in the first index. */
export interface Removal {
  chats: number[];
}

/** A search of all indexes. */
export interface Asked extends CandidatesAsked {
  indexes: number;
}

const ORGANIZATION = "org_g000000000000000";
const MIN_CHATS = 1_000;
const PER_CHAT = 100;
const AT_ONCE = 100;

/** The index, with what it costs. */
export class SearchIndexObject extends service.SearchIndexObject {
  #rows = 0;

  constructor(...[state, env]: ConstructorParameters<typeof service.SearchIndexObject>) {
    super(state, env);
    const exec = state.storage.sql.exec.bind(state.storage.sql);
    state.storage.sql.exec = ((...given: Parameters<typeof exec>) => {
      const cursor = exec(...given);
      if (!/^\s*select/.test(given[0])) this.#rows += cursor.rowsWritten;
      return cursor;
    }) as typeof exec;
  }

  cost(): { rows: number; bytes: number } {
    return { rows: this.#rows, bytes: this.ctx.storage.sql.databaseSize };
  }
}

interface IndexEnv {
  SEARCH_INDEXES: DurableObjectNamespace<SearchIndexObject>;
}

/** Fills an index, and searches it. */
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/fill") return Response.json(await fill(env, await request.json<Fill>()));
    if (pathname === "/remove") return Response.json(await remove(env, await request.json<Removal>()));
    const { indexes, ...asked } = await request.json<Asked>();
    const numbers = Array.from({ length: indexes }, (_, n) => n + 1);
    if (pathname === "/cost") {
      const costs = await Promise.all(numbers.map((number) => indexOf(env, number).cost()));
      const sum = (of: "rows" | "bytes") => costs.reduce((total, cost) => total + cost[of], 0);
      return Response.json({ rows: sum("rows"), bytes: sum("bytes") });
    }
    const watch = watchTurns();
    const answers: CandidatesAnswer[] = [];
    const ask = async (number: number) => {
      answers.push(await indexOf(env, number).candidates(ORGANIZATION, asked));
    };
    const [failed] = await settleEach(numbers, ask, undefined, INDEXES_AT_ONCE);
    if (failed) throw failed.error;
    const { candidates, hasMore } = mergedCandidates(answers);
    endTurns();
    return Response.json({ found: candidates.length, hasMore, turns: await watch });
  },
} satisfies ExportedHandler<IndexEnv>;

function indexOf(env: IndexEnv, number: number): DurableObjectStub<SearchIndexObject> {
  return env.SEARCH_INDEXES.getByName(`${ORGANIZATION}:${number}`);
}

/** Sends changes to an index at the same time, and watches the steps. */
async function send(env: IndexEnv, number: number, changes: IndexChange[]): Promise<{ ms: number; turns: Turn[] }> {
  const watch = watchTurns();
  const startedAt = Date.now();
  const index = indexOf(env, number);
  await Promise.all(changes.map((change) => index.index({ organizationId: ORGANIZATION, number }, change)));
  const ms = Date.now() - startedAt;
  endTurns();
  return { ms, turns: await watch };
}

function changeOf(chat: number): IndexChange {
  return {
    chatId: `cht_g${String(chat).padStart(15, "0")}`,
    life: 1,
    channelId: "chn_g000000000000000",
    put: [],
    remove: [],
    removeUpTo: 0,
  };
}

async function remove(env: IndexEnv, { chats }: Removal) {
  const changes = chats.map((chat) => ({ ...changeOf(chat), removeUpTo: Number.MAX_SAFE_INTEGER }));
  return await send(env, 1, changes);
}

async function fill(env: IndexEnv, { from, count, of, isLate, indexes }: Fill) {
  const number = 1 + Math.floor((from / of) * indexes);
  const chats = Math.max(MIN_CHATS, of / PER_CHAT);
  const changes = Array.from({ length: count / AT_ONCE }, (_, change) => {
    const first = from + change * AT_ONCE;
    const chat = isLate ? Math.floor((first / of) * chats) : (first / AT_ONCE) % chats;
    const put = Array.from({ length: AT_ONCE }, (_each, i) => {
      const n = first + i;
      return messageOf(n + 1, n, isLate ? ((n * chats) % of) / of : n / of);
    });
    return { ...changeOf(chat), put };
  });
  return await send(env, number, changes);
}
