import type { Asked, CountedMessage } from "../../../model/conversation-counts.ts";
import { wroteAt } from "../../../model/reply-window.ts";
import type { ChatTables, LateTable } from "./chat-tables.ts";
import { RECENT_MESSAGES } from "./network-ids.ts";
import { newestFirst } from "./walk.ts";

const MESSAGES_A_READ = 250;

const ORIGIN = "doc ->> '$.origin' as origin";
/** SQL of what says who wrote a message, and when. */
const WRITTEN = `doc ->> '$.direction' as direction, doc ->> '$.createdAt' as createdAt,
  doc ->> '$.networkTime' as networkTime, ${ORIGIN}, doc ->> '$.standby' as standby,
  answers_nothing as answersNothing`;

type Written = {
  seq: number;
  direction: string;
  createdAt: string;
  networkTime: string | null;
  origin: string | null;
  standby: number | null;
  /** 1 if it leaves the contact waiting. */
  answersNothing: number | null;
};

/** Which of the contact's messages wait for an answer. */
interface Waiting {
  /** Only up to this message. */
  upTo?: number;
  /** Only from this time on, Unix milliseconds. */
  since?: number;
  /** Those that the contact wrote to the network's own agent too, as far as the agent gave them back. */
  givenBack: GivenBack;
}

/** What the contact wrote to the network's own agent, and waits for an answer since the agent gave it back. */
export interface GivenBack {
  /** The messages up to this seq. */
  upTo: number;
  /** Those that were written by this time (Unix milliseconds), and came later. */
  at: number;
}

/** Who wrote the messages of a chat, and when. */
export class Exchange {
  readonly #messages: LateTable;
  readonly #newest: () => { seq: number };

  constructor(tables: ChatTables, newest: () => { seq: number }) {
    this.#messages = tables.messages;
    this.#newest = newest;
  }

  /** Walks the messages after `seq`, oldest first. */
  *after(seq: number, givenBack: GivenBack): Generator<CountedMessage & { seq: number }> {
    const query = `select seq, ${WRITTEN}, case when named = 1 then doc ->> '$.senderId' end as namedSenderId
      from messages where seq > ? order by seq limit ?`;
    for (let after = seq, isMore = true; isMore; ) {
      const rows = this.#messages.run<Written & { namedSenderId: string | null }>(query, after, MESSAGES_A_READ);
      for (const row of rows) {
        const { namedSenderId } = row;
        const networkAt = row.networkTime === null ? null : Date.parse(row.networkTime);
        const isInbound = row.direction === "INBOUND";
        // Those up to `upTo` began to wait when the agent gave them back, and not when they came.
        const isLate = row.seq > givenBack.upTo && wroteAt(row) <= givenBack.at;
        const kind = {
          isInbound,
          isEcho: isEcho(row),
          isStandby: row.standby !== null && !isLate,
          answersNothing: row.answersNothing === 1,
        };
        yield { seq: row.seq, ...kind, at: Date.parse(row.createdAt), networkAt, namedSenderId };
      }
      after = rows.at(-1)?.seq ?? after;
      isMore = rows.length === MESSAGES_A_READ;
    }
  }

  /**
   * The contact's first message that nothing to it answers, among the newest 1,000; null if there is none. A message of
   * this service answers all before it. One that was written elsewhere answers what the contact had written by then.
   */
  firstUnanswered({ upTo = this.#newest().seq, since = 0, givenBack }: Waiting): Asked | null {
    const rows: Written[] = [];
    for (const row of newestFirst<Written>(this.#messages, WRITTEN, upTo)) {
      const isAnswer = row.direction === "OUTBOUND" && !isEcho(row) && row.answersNothing !== 1;
      if (isAnswer || row.seq <= upTo - RECENT_MESSAGES || Date.parse(row.createdAt) < since) break;
      rows.push(row);
    }
    let waiting: Asked[] = [];
    for (const row of rows.reverse()) {
      const at = Date.parse(row.createdAt);
      if (row.answersNothing === 1) continue;
      if (row.direction !== "INBOUND") {
        const answeredAt = Date.parse(row.networkTime ?? row.createdAt);
        waiting = waiting.filter((asked) => asked.wroteAt > answeredAt);
      } else if (!isStandby(row, givenBack)) waiting.push({ at, wroteAt: wroteAt(row) });
    }
    return waiting[0] ?? null;
  }

  /** When the contact first wrote since a person last did, among the newest 1,000; null if it did not. */
  firstSincePerson(): number | null {
    const newest = this.#newest().seq;
    const isPerson = `doc ->> '$.direction' = 'OUTBOUND' and (doc ->> '$.origin' = 'app' or (named = 1 and by_bot is null and answers_nothing is null))`;
    const query = `select doc ->> '$.createdAt' as createdAt from messages
      where seq > coalesce((select max(seq) from messages where seq > ?1 and ${isPerson}), ?1)
        and doc ->> '$.direction' = 'INBOUND' and doc ->> '$.standby' is null order by seq limit 1`;
    const [first] = this.#messages.run<{ createdAt: string }>(query, newest - RECENT_MESSAGES);
    return first ? Date.parse(first.createdAt) : null;
  }

  /** The seq of the bot's newest message, among the newest 1,000; 0 if there is none. */
  newestOfBot(): number {
    const query = "select seq from messages where seq > ? and by_bot = 1 order by seq desc limit 1";
    const [row] = this.#messages.run<{ seq: number }>(query, this.#newest().seq - RECENT_MESSAGES);
    return row?.seq ?? 0;
  }

  /** The messages of the bot and of the contact after `seq`, oldest first, among the newest 1,000. `at`: Unix milliseconds. */
  ofBotAndContact(seq: number): { isBot: boolean; at: number }[] {
    const query = `select doc ->> '$.createdAt' as createdAt, by_bot as byBot from messages
      where seq > ? and (by_bot = 1 or (doc ->> '$.direction' = 'INBOUND' and doc ->> '$.standby' is null)) order by seq`;
    const after = Math.max(seq, this.#newest().seq - RECENT_MESSAGES);
    const rows = this.#messages.run<{ createdAt: string; byBot: number | null }>(query, after);
    return rows.map(({ createdAt, byBot }) => ({ isBot: byBot === 1, at: Date.parse(createdAt) }));
  }

  /** The seq of the newest message that is not an away message; 0 if there is none. */
  seqBeforeAway(): number {
    for (const { seq, origin } of newestFirst<{ origin: string | null }>(this.#messages, ORIGIN)) {
      if (origin !== "away") return seq;
    }
    return 0;
  }

  /** When the contact last wrote, Unix milliseconds, among the newest 1,000 messages; null if it did not. */
  contactWroteAt(): number | null {
    const query = `select doc ->> '$.createdAt' as createdAt, doc ->> '$.networkTime' as networkTime
      from messages where seq > ? and doc ->> '$.direction' = 'INBOUND' order by seq desc limit 1`;
    const [last] = this.#messages.run<Pick<Written, "createdAt" | "networkTime">>(
      query,
      this.#newest().seq - RECENT_MESSAGES,
    );
    return last ? wroteAt(last) : null;
  }
}

/** Whether the contact wrote it to the network's own agent, who has not given it back. */
function isStandby(row: Written, { upTo, at }: GivenBack): boolean {
  return row.standby !== null && row.seq > upTo && wroteAt(row) > at;
}

/** Whether the company wrote it elsewhere. */
function isEcho({ origin }: Written): boolean {
  return origin !== null && origin !== "away";
}
