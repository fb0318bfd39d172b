import * as service from "../../../src/index.ts";
import type { CandidatesAsked, IndexedMessage } from "../../../src/model/search-index.ts";
import { Random } from "../../support/random.ts";
import { endTurns, watchTurns } from "./turns.ts";

export interface Fill {
  from: number;
  count: number;
  /** How many messages there will be: their time is spread over two years. */
  of: number;
  /** One chat after the other, each with messages of all times. */
  isLate: boolean;
}

const OWNER = { organizationId: "org_g000000000000000", number: 1 };
const CHATS = 1_000;
const AT_ONCE = 100;
const START = Date.UTC(2024, 0, 1);
const TWO_YEARS = 2 * 365 * 86_400_000;
const LENGTH = 131;

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

const random = new Random(1);
const WORDS = Array.from({ length: 20_000 }, () => {
  const letters = Array.from(
    { length: random.between(2, 10) },
    () => "ETAOINSHRDLUCMFWYPVBGKQJXZ"[Math.floor(random.next() ** 1.8 * 26)],
  );
  return letters.join("");
});

/** A message with words as common as in a language, and some whose share is known. */
function messageOf(seq: number, n: number, place: number): IndexedMessage {
  const marks = [
    n % 2 === 0 && "HALF",
    n % 100 === 0 && "#ONE#",
    n % 50_000 === 8 && "%RARE%",
    n % 3 === 0 ? "LEFT" : n % 3 === 1 && "RIGHT",
  ];
  if (n % 40_000 === 9) marks.push("LEFT RIGHT");
  let text = marks.filter(Boolean).join(" ");
  while (text.length < LENGTH) text += ` ${WORDS[Math.floor(random.next() ** 3 * WORDS.length)]}`;
  return {
    seq,
    at: START + Math.floor(place * TWO_YEARS),
    direction: n % 4 === 0 ? "OUTBOUND" : "INBOUND",
    text: text.slice(0, LENGTH),
  };
}

interface IndexEnv {
  SEARCH_INDEXES: DurableObjectNamespace<SearchIndexObject>;
}

/** Fills an index, and searches it. */
export default {
  async fetch(request, env) {
    const index = env.SEARCH_INDEXES.getByName(`${OWNER.organizationId}:${OWNER.number}`);
    const { pathname } = new URL(request.url);
    if (pathname === "/fill") return Response.json(await fill(index, await request.json<Fill>()));
    if (pathname === "/cost") return Response.json(await index.cost());
    const asked = await request.json<CandidatesAsked>();
    const watch = watchTurns();
    const { candidates, hasMore } = await index.candidates(OWNER.organizationId, asked);
    endTurns();
    return Response.json({ found: candidates.length, hasMore, turns: await watch });
  },
} satisfies ExportedHandler<IndexEnv>;

async function fill(index: DurableObjectStub<SearchIndexObject>, { from, count, of, isLate }: Fill) {
  const changes = Array.from({ length: count / AT_ONCE }, (_, change) => {
    const first = from + change * AT_ONCE;
    const chat = isLate ? Math.floor((first / of) * CHATS) : (first / AT_ONCE) % CHATS;
    const put = Array.from({ length: AT_ONCE }, (_each, i) => {
      const n = first + i;
      return messageOf(n + 1, n, isLate ? ((n * CHATS) % of) / of : n / of);
    });
    return {
      chatId: `cht_g${String(chat).padStart(15, "0")}`,
      life: 1,
      channelId: "chn_g000000000000000",
      put,
      remove: [],
      removeUpTo: 0,
    };
  });
  const watch = watchTurns();
  const startedAt = Date.now();
  await Promise.all(changes.map((change) => index.index(OWNER, change)));
  const ms = Date.now() - startedAt;
  endTurns();
  return { ms, turns: await watch };
}
