import type { ReplayLeft } from "../../model/webhook.ts";

/**
 * What the subscriptions of the last replay had not sent when their chats were deleted. Nobody will send these events.
 */
export class GoneSubscriptions {
  readonly #sql: Pick<SqlStorage, "exec">;

  static readonly schema =
    "create table gone_lines (line text, at integer, events integer not null, primary key (line, at)) without rowid";

  constructor(sql: Pick<SqlStorage, "exec">) {
    this.#sql = sql;
  }

  /** A subscription is gone. A repeated call changes nothing. @param at when, Unix milliseconds */
  add(subscriptionId: string, at: number, { left }: ReplayLeft): void {
    this.#sql.exec("insert or ignore into gone_lines (line, at, events) values (?, ?, ?)", subscriptionId, at, left);
  }

  /** How many events of the replay went with their subscriptions. */
  events(): number {
    return this.#sql.exec<{ events: number }>("select ifnull(sum(events), 0) as events from gone_lines").one().events;
  }

  /** Another replay begins. */
  clear(): void {
    this.#sql.exec("delete from gone_lines");
  }
}
