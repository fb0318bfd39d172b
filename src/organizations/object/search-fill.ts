import { callObject, NEARBY } from "../../calls/call-object.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { Existence } from "./existence.ts";
import { Retries } from "./retries.ts";
import type { SearchIndexes } from "./search-indexes.ts";

const CHATS_A_STEP = 20;
/** A run begins no further step after this time. */
const RUN_MS = 4_000;

type FilledChat = { id: string };

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  existence: Existence;
  searchIndexes: SearchIndexes;
}

/**
 * Lets all chats index what was said before the search was on, 20 at once. The walk's place is stored
 * after each step, so an interrupted fill goes on. A chat that fails is tried again later, beside the walk.
 */
export class SearchFill implements DuePart {
  readonly #parts: Parts;
  readonly #sql: SqlStorage;
  readonly #retries: Retries;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = parts.storage.sql;
    this.#retries = new Retries(this.#sql, "fill", parts.existence);
  }

  /** How many chats there are, without those that are being deleted. */
  countChats(): number {
    return this.#sql.exec<{ chats: number }>("select coalesce(sum(chats), 0) as chats from channels").one().chats;
  }

  /** When the alarm must call `run`, Unix milliseconds; null if the indexes have everything. */
  dueAt(now: number): number | null {
    const { searchIndexes } = this.#parts;
    return searchIndexes.isOutdated || searchIndexes.fill ? now : this.#retries.dueAt();
  }

  async run(now: number): Promise<void> {
    const { searchIndexes, existence } = this.#parts;
    if (searchIndexes.isOutdated) searchIndexes.renew(this.countChats(), now);
    await this.#fill(this.#retries.due(now, CHATS_A_STEP).map(({ id }) => ({ id })));
    while (existence.isReady() && searchIndexes.fill && Date.now() < now + RUN_MS) await this.#step();
  }

  async #step(): Promise<void> {
    const { searchIndexes } = this.#parts;
    const { fill } = searchIndexes;
    if (!fill) return;
    const { after, open } = fill.walk;
    const places = CHATS_A_STEP - open.length;
    const query = `select id from chats where id > ? and active_at is not null and ${this.#retries.isFresh}
      order by id limit ?`;
    const next = this.#sql.exec<FilledChat>(query, after, places).toArray();
    const chats = [...open.map((id) => ({ id })), ...next];
    const stillOpen = await this.#fill(chats);
    if (!this.#parts.existence.isReady()) return;
    const isOver = next.length < places && stillOpen.length === 0;
    const walk = isOver ? null : { after: next.at(-1)?.id ?? after, open: stillOpen };
    searchIndexes.filled(fill.targets.generation, walk, chats.length - stillOpen.length);
  }

  /** @returns the ids of those that have more to index */
  async #fill(chats: FilledChat[]): Promise<string[]> {
    const { env, existence, searchIndexes } = this.#parts;
    const as = { organizationId: existence.id ?? "", knownIdentity: null, isRepeat: false };
    const open: string[] = [];
    await this.#retries.run(chats, async ({ id }) => {
      const targets = searchIndexes.targets();
      if (!targets.isOn) return;
      const answer = await callObject(env.CHATS, id, (chat) => chat.fillSearch(as, targets), NEARBY);
      // A chat that is not adopted yet has said nothing.
      if (answer.outcome === "ok" && !answer.isDone) open.push(id);
    });
    return open;
  }
}
