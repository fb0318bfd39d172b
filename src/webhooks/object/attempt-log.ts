import type { AttemptFilter, AttemptPage, LoggedAttempt, WebhookAttempt } from "../../model/webhook.ts";
import { reportedClass } from "../subscription/retry.ts";
import { countAttempt, EMPTY_TALLY, type Tally } from "./state.ts";

/** What the log stores besides the attempt. */
export interface LogContext {
  /** The webhook's epoch when the attempt was granted; 0 if it says nothing of the webhook. */
  epoch: number;
  /** When its end was reported, Unix milliseconds. */
  at: number;
  /** How many events of the attempt's replay have ended and were accepted, with this attempt. */
  ended: number;
  sent: number;
}

type TallyRow = { outcome: string; http_status: number | null; code: string; at: number };

export const KEPT_ATTEMPTS = 1_000;
const COLUMNS =
  "seq, line, number, event_id, event_type, replay_id, started_at, duration_ms, outcome, http_status, code, message";
const CONTEXT = "epoch, at, ended, sent";
/** The columns with the names of `LoggedAttempt`. */
const NAMED = `seq, line as lineId, number, event_id as eventId, event_type as eventType, replay_id as replayId,
  started_at as startedAt, duration_ms as durationMs, outcome, http_status as httpStatus, code, message`;

function createTable(table: number): string {
  return `create table attempts_${table} (seq integer primary key, line text not null, number integer not null,
    event_id text not null, event_type text not null, replay_id text, started_at integer not null,
    duration_ms integer not null, outcome text not null, http_status integer, code text not null, message text not null,
    epoch integer not null, at integer not null, ended integer not null, sent integer not null)`;
}

/**
 * The last attempts of a webhook, without bodies. They alternate between two tables: dropping the older table costs no
 * rows written, but deleting rows does, so each attempt costs one row.
 */
export class AttemptLog {
  readonly #sql: Pick<SqlStorage, "exec">;
  #lastSeq: number | undefined;

  static readonly schema = `${createTable(0)}; ${createTable(1)}`;

  constructor(sql: Pick<SqlStorage, "exec">) {
    this.#sql = sql;
  }

  add(attempt: WebhookAttempt, { epoch, at, ended, sent }: LogContext): void {
    const seq = this.#last() + 1;
    const table = Math.floor(seq / KEPT_ATTEMPTS) % 2;
    if (seq % KEPT_ATTEMPTS === 0) this.#sql.exec(`drop table attempts_${table}; ${createTable(table)}`);
    const {
      lineId: subscriptionId,
      number,
      eventId,
      eventType,
      replayId,
      startedAt,
      durationMs,
      outcome,
      httpStatus,
    } = attempt;
    this.#sql.exec(
      `insert into attempts_${table} (${COLUMNS}, ${CONTEXT}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[seq, subscriptionId, number, eventId, eventType, replayId, startedAt, durationMs, outcome, httpStatus],
      ...[attempt.code, attempt.message, epoch, at, ended, sent],
    );
    this.#lastSeq = seq;
  }

  /** A page of the kept attempts, newest first. @param before the cursor of the previous page; null for the first */
  list(
    { outcome, lineId: subscriptionId }: AttemptFilter,
    { before, limit }: { before: string | null; limit: number },
  ): AttemptPage {
    const last = this.#last();
    const query = `select ${NAMED} from (${bothTables(COLUMNS)}) where (?1 is null or outcome = ?1)
      and (?2 is null or line = ?2) and seq > ?3 and seq < ?4 order by seq desc limit ?5`;
    const end = before === null ? last + 1 : Number(before);
    const values = [outcome ?? null, subscriptionId ?? null, last - KEPT_ATTEMPTS, end, limit + 1];
    const rows = this.#sql.exec<LoggedAttempt & { seq: number }>(query, ...values).toArray();
    const page = rows.slice(0, limit);
    const oldest = page.at(-1);
    const cursor = rows.length > limit && oldest ? String(oldest.seq) : null;
    const attempts = page.map((row) => {
      const { seq: _seq, ...attempt } = row;
      return attempt;
    });
    return { attempts, cursor };
  }

  /** What the attempts of an epoch say of the webhook, back to the last success. */
  tally(epoch: number): Tally {
    const rows: TallyRow[] = [];
    for (const table of this.#newestFirst()) {
      const query = `select outcome, http_status, code, at from ${table} where epoch = ?1 and seq >= ifnull(
          (select seq from ${table} where epoch = ?1 and outcome = 'accepted' order by seq desc limit 1), 0)
        order by seq limit ?2`;
      const found = this.#sql.exec<TallyRow>(query, epoch, KEPT_ATTEMPTS).toArray();
      rows.unshift(...found);
      if (found[0]?.outcome === "accepted") break;
    }
    return rows.reduce((tally, { outcome, http_status, code, at }) => {
      const answer = reportedClass({ httpStatus: http_status, code });
      return countAttempt(tally, answer, outcome === "given_up", at);
    }, EMPTY_TALLY);
  }

  /** The subscriptions whose last attempt of an event is to be repeated, among the kept attempts. */
  subscriptionsToRetry(): string[] {
    const query = `select distinct line from (select line, outcome, max(seq) from (${bothTables(COLUMNS)})
      where seq > ? group by line, event_id, replay_id) where outcome = 'retry'`;
    const rows = this.#sql.exec<{ line: string }>(query, this.#last() - KEPT_ATTEMPTS).toArray();
    return rows.map(({ line }) => line);
  }

  /** How many events of a replay have ended, and were accepted. */
  replayCounts(replayId: string): { ended: number; sent: number } {
    for (const table of this.#newestFirst()) {
      const query = `select ended, sent from ${table} where replay_id = ? order by seq desc limit 1`;
      const [newest] = this.#sql.exec<{ ended: number; sent: number }>(query, replayId).toArray();
      if (newest) return newest;
    }
    return { ended: 0, sent: 0 };
  }

  /** The tables, the one with the newest attempts first. */
  #newestFirst(): [newer: string, older: string] {
    const newest = Math.floor(this.#last() / KEPT_ATTEMPTS) % 2;
    return [`attempts_${newest}`, `attempts_${1 - newest}`];
  }

  #last(): number {
    const query = `select max(ifnull((select max(seq) from attempts_0), 0), ifnull((select max(seq) from attempts_1), 0))
      as last`;
    this.#lastSeq ??= this.#sql.exec<{ last: number }>(query).one().last;
    return this.#lastSeq;
  }
}

function bothTables(columns: string): string {
  return `select ${columns} from attempts_0 union all select ${columns} from attempts_1`;
}
