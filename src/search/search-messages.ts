import * as z from "zod/mini";
import { callChat, nullIfNotFound, type Owner } from "../calls/call-chat.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { callSearchIndex } from "../calls/call-search-index.ts";
import { assigneeFilter, assigneeIn, channelFilter } from "../chats/list-chats.ts";
import { withinBudget } from "../chats/search-budget.ts";
import { beforeQuery } from "../http/pagination.ts";
import { fault } from "../http/validation.ts";
import type { Caller } from "../model/caller.ts";
import type { MessagePlace } from "../model/chat-answers.ts";
import { ApiError } from "../model/error.ts";
import { instant, queryText } from "../model/field.ts";
import { folded } from "../model/folding.ts";
import { isId } from "../model/id.ts";
import { DIRECTIONS } from "../model/message.ts";
import type { FoundChat } from "../model/organization.ts";
import type { Candidate, CandidatesAnswer, CandidatesAsked } from "../model/search-index.ts";
import { indexedSearchText } from "../model/search-text.ts";
import { doEach, settleEach } from "../platform/concurrency.ts";
import { mergedCandidates } from "./merged-candidates.ts";
import { readResultsCursor, writeResultsCursor } from "./results-cursor.ts";

const MAX_CURSOR = 128;
/** After how many verified messages a page ends, even if it found fewer than it may have. */
const MAX_EXAMINED = 200;
/** How many candidates an index is asked for at once. */
const ASKED_AT_ONCE = 100;
/** How many indexes a search asks at once. */
export const INDEXES_AT_ONCE = 4;
/** What a look into an index, and a call of a chat, cost of the caller's budget: as long as it takes to examine as many characters. */
const INDEX_WORK = 131_072;
const CHAT_WORK = 16_384;
/** How many candidates are verified at once, at least. */
const MIN_VERIFIED = 10;

/** The query of `GET /messages`. */
export const searchQuery = z.object({
  limit: beforeQuery.shape.limit,
  before: queryText(MAX_CURSOR),
  search: indexedSearchText,
  channel: z.optional(channelFilter),
  assignee: z.optional(assigneeFilter),
  direction: z.optional(z.enum(DIRECTIONS)),
  since: z.optional(instant),
  until: z.optional(instant),
});

type Query = z.output<typeof searchQuery>;

/** A message that was found, as JSON, and its chat. */
interface Found {
  doc: string;
  chat: FoundChat;
}

/** Where a page is: behind this candidate; null at the start. */
interface Place {
  after: Candidate | null;
  /** Whether there may be more candidates. */
  hasMore: boolean;
}

/**
 * A page of an organization's messages that contain a text, the newest first. The indexes name candidates, and each of them
 * is verified in its chat, so what was changed or deleted is not found, whatever the indexes know. A page may have fewer
 * messages than its limit and still have more behind it.
 * @returns the page as JSON
 * @throws ApiError `search_off`; `validation_failed` for a cursor that is not of this search; `rate_limited` if the caller's
 *   searches examined too much text
 */
export async function searchMessages(env: Env, caller: Caller, query: Query): Promise<string> {
  const { organizationId, region } = caller;
  const { before, limit, ...selected } = query;
  const search = [organizationId, selected];
  const start = before === undefined ? null : readResultsCursor(search, before);
  if (before !== undefined && !start) throw fault("before", "is not a cursor of this search");
  const numbers = await callOrganization(env, organizationId, (organization) => organization.searchNumbers(), region);
  if (!numbers) throw new ApiError("search_off");
  const { found, place } = await withinBudget(env, caller, () =>
    readPage(new Search(env, caller, query, numbers), start, limit),
  );
  const messages = found.map(({ doc, chat }) => `{"message":${doc},"chat":${JSON.stringify(chat)}}`);
  const cursor = place.hasMore && place.after ? writeResultsCursor(search, place.after) : null;
  const pagination = JSON.stringify({ limit, hasMore: cursor !== null, cursor });
  return `{"messages":[${messages.join()}],"pagination":${pagination}}`;
}

async function readPage(search: Search, start: Candidate | null, limit: number) {
  const found: Found[] = [];
  const place: Place = { after: start, hasMore: true };
  let examined = 0;
  while (found.length < limit && examined < MAX_EXAMINED && place.hasMore) {
    const { candidates, hasMore } = await search.candidates(place.after, ASKED_AT_ONCE);
    place.hasMore = hasMore;
    for (let at = 0; at < candidates.length && found.length < limit && examined < MAX_EXAMINED; ) {
      // Most candidates are hits: no more chats are called than the page needs.
      const count = Math.min(Math.max(MIN_VERIFIED, limit - found.length), MAX_EXAMINED - examined);
      const next = candidates.slice(at, at + count);
      const hits = await search.verify(next);
      const used = next.slice(0, endOfPage(next, hits, limit - found.length));
      found.push(...used.flatMap((candidate) => hits.get(candidate) ?? []));
      at += used.length;
      examined += next.length;
      place.after = used.at(-1) ?? place.after;
      place.hasMore = hasMore || at < candidates.length;
    }
  }
  return { found, place, work: search.work };
}

/** How many candidates a page takes that has room for this many hits. */
function endOfPage(candidates: Candidate[], hits: Map<Candidate, Found>, room: number): number {
  const ofHits = candidates.flatMap((candidate, at) => (hits.has(candidate) ? [at] : []));
  const last = ofHits[room - 1];
  return last === undefined ? candidates.length : last + 1;
}

/** One search in the indexes and chats of an organization. */
class Search {
  readonly #env: Env;
  readonly #owner: Owner;
  readonly #query: Query;
  readonly #numbers: number[];
  readonly #text: string;
  /** What it cost so far, in examined characters. */
  work = 0;

  constructor(env: Env, owner: Owner, query: Query, numbers: number[]) {
    this.#env = env;
    this.#owner = owner;
    this.#query = query;
    this.#numbers = numbers;
    this.#text = folded(query.search);
  }

  /** The next candidates of all indexes. @throws ApiError `unavailable` if an index does not answer */
  async candidates(before: Candidate | null, limit: number): Promise<CandidatesAnswer> {
    const { channel, direction = null, since = null, until = null } = this.#query;
    const channelId = channel !== undefined && isId("chn", channel) ? channel : null;
    const asked: CandidatesAsked = { search: this.#text, before, channelId, direction, since, until, limit };
    const answers: CandidatesAnswer[] = [];
    this.work += INDEX_WORK * this.#numbers.length;
    const ask = async (number: number) => {
      const { organizationId, region } = this.#owner;
      const owner = { organizationId, number };
      answers.push(await callSearchIndex(this.#env, owner, (index) => index.candidates(organizationId, asked), region));
    };
    const [failed] = await settleEach(this.#numbers, ask, undefined, INDEXES_AT_ONCE);
    if (failed) throw failed.error;
    return mergedCandidates(answers);
  }

  /** Those of some candidates that contain the text now, in chats that the search selects. */
  async verify(candidates: Candidate[]): Promise<Map<Candidate, Found>> {
    const { organizationId, region } = this.#owner;
    const { channel, assignee } = this.#query;
    const filter = { channel, assignee: assigneeIn(assignee) };
    const ids = [...new Set(candidates.map(({ chatId }) => chatId))];
    const chats = await callOrganization(
      this.#env,
      organizationId,
      (organization) => organization.chatsFound(ids, filter),
      region,
    );
    const found = new Map<Candidate, Found>();
    await doEach(chats, async (chat) => {
      const ofChat = candidates.filter(({ chatId }) => chatId === chat.id);
      const docs = await this.#docs(
        chat.id,
        ofChat.map(({ seq, at }) => ({ seq, at })),
      );
      for (const [at, candidate] of ofChat.entries()) {
        const doc = docs[at];
        if (doc) found.set(candidate, { doc, chat });
      }
    });
    return found;
  }

  /** The messages of a chat that contain the text, by their places. None if the chat was deleted meanwhile. */
  async #docs(chatId: string, places: MessagePlace[]): Promise<(string | null)[]> {
    const answer = await nullIfNotFound(
      callChat(this.#env, this.#owner, chatId, (chat, as) => chat.matching(as, places, this.#text)),
    );
    this.work += CHAT_WORK + (answer?.work ?? 0);
    return answer?.docs ?? [];
  }
}
