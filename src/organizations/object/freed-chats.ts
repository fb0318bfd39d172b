import { callObject, NEARBY } from "../../calls/call-object.ts";
import { permissionsOf } from "../../db/members.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import { CHATS_A_STEP, ChatPace } from "./chat-pace.ts";
import type { ChatRow } from "./chat-row.ts";
import type { Existence } from "./existence.ts";
import type { MemberNumbers } from "./member-numbers.ts";
import { Retries } from "./retries.ts";

const MENTIONS_A_STEP = 500;
/** A removal that was begun and not confirmed is looked up after this time. */
const CHECK_AFTER_MS = 60_000;
/** A member's id is remembered for a day: a chat may be assigned by a call that began before the removal. */
const KEPT_MS = 86_400_000;
const AGAIN_AFTER_MS = 60_000;
/** The mentions of removed members. A cross join reads the members first. */
const OF_REMOVED = `from leaving_members cross join mentions on member_id = leaving_members.id where is_removed = 1`;

/** A chat of a removed member. */
type HeldChat = { id: string; life: number; assignee: string };
type AssignedChat = Pick<ChatRow, "id" | "life" | "assignee">;
type LeavingMember = { id: string; at: number; isRemoved: number };

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  existence: Existence;
  memberNumbers: MemberNumbers;
  /** Ensures an alarm at `at` or before, Unix milliseconds. */
  standBy(at: number): void;
}

/**
 * Unassigns the chats of removed members, 20 in a second, removes their mentions, and forgets the members. A removal is announced before it is
 * made. If its outcome is not reported, the directory is asked, and once about each member that got numbers. A chat
 * that can't be unassigned is tried again later, beside the others.
 */
export class FreedChats implements DuePart {
  readonly #parts: Parts;
  readonly #sql: SqlStorage;
  readonly #retries: Retries;
  readonly #pace = new ChatPace();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = parts.storage.sql;
    this.#retries = new Retries(this.#sql, "free", parts.existence);
  }

  /** A member is about to be removed. */
  leaving(memberId: string): void {
    this.#store(memberId, Date.now() + CHECK_AFTER_MS, 0);
    this.#parts.standBy(Date.now() + CHECK_AFTER_MS);
  }

  /** The member was removed. */
  left(memberId: string): void {
    this.#store(memberId, Date.now() + KEPT_MS, 1);
    this.#parts.standBy(Date.now());
  }

  /** A chat's report says whose it is. */
  reported(assigneeId: string | null | undefined): void {
    if (assigneeId == null) return;
    if (this.#isRemoved(assigneeId)) this.#parts.standBy(Date.now());
  }

  /** A member got numbers. It may have been removed long ago: its scheduled messages are still sent. */
  counted(memberId: string): void {
    const at = Date.now() + KEPT_MS;
    const insert = "insert into leaving_members (id, at, is_removed) values (?, ?, 0) on conflict do nothing";
    this.#sql.exec(insert, memberId, at);
    this.#parts.standBy(at);
  }

  /** A chat's notes mention a member, which may have been removed since. */
  mentioned(memberId: string): void {
    this.counted(memberId);
    this.reported(memberId);
  }

  /** When the alarm must call `run`, Unix milliseconds; null if nobody left. */
  dueAt(): number | null {
    if (this.#chats(1).length > 0 || this.#hasMentions()) return this.#pace.after(0);
    const [next] = this.#sql.exec<{ at: number | null }>("select min(at) as at from leaving_members").toArray();
    const times = [next?.at ?? null, this.#retries.dueAt()].filter((at) => at !== null);
    return times.length === 0 ? null : this.#pace.after(Math.min(...times));
  }

  async run(now: number): Promise<void> {
    if (!this.#pace.step(now)) return;
    await this.#check(now);
    if (!this.#parts.existence.isReady()) return;
    this.#sql.exec(
      `delete from mentions where (member_id, at, chat_id) in (select member_id, mentions.at, chat_id ${OF_REMOVED} limit ?)`,
      MENTIONS_A_STEP,
    );
    const again = this.#retries.due(now, CHATS_A_STEP);
    const fresh = this.#chats(CHATS_A_STEP - again.length);
    await this.#retries.run<AssignedChat>([...again, ...fresh], (chat) => this.#free(chat));
  }

  async #free({ id, life, assignee }: AssignedChat): Promise<void> {
    // It got another assignee in the meantime.
    if (assignee === null || !this.#isRemoved(assignee)) return;
    const { env, existence } = this.#parts;
    // The chat stays as it is if another member has it by now.
    await callObject(env.CHATS, id, (chat) => chat.free(existence.id ?? "", life, assignee), NEARBY);
    const query = "select 1 from chats where id = ? and assignee = ? and active_at is not null";
    const isHeld = existence.isReady() && this.#sql.exec(query, id, assignee).toArray().length > 0;
    // Otherwise each step would begin with it.
    if (isHeld) throw new Error("The chat did not report that it is free");
  }

  /** Looks up members with an unreported outcome, and forgets those that were removed long ago and left no chat. */
  async #check(now: number): Promise<void> {
    const { env, existence, memberNumbers } = this.#parts;
    const query = "select id, at, is_removed as isRemoved from leaving_members where at <= ? order by at limit ?";
    for (const { id, isRemoved } of this.#sql.exec<LeavingMember>(query, now, CHATS_A_STEP).toArray()) {
      if (isRemoved === 1) {
        memberNumbers.remove(id);
        if (this.#hasChats(id)) this.#store(id, now + KEPT_MS, 1);
        else this.#forgetMember(id);
        continue;
      }
      const found = await permissionsOf(env, existence.id ?? "", id).catch(() => undefined);
      if (!existence.isReady()) return;
      if (found === undefined) this.#store(id, now + AGAIN_AFTER_MS, 0);
      else if (found === null) this.left(id);
      else this.#forgetMember(id);
    }
  }

  #store(id: string, at: number, isRemoved: 0 | 1): void {
    this.#sql.exec(
      `insert into leaving_members (id, at, is_removed) values (?, ?, ?)
       on conflict do update set is_removed = max(is_removed, excluded.is_removed),
         at = case when is_removed = 1 then max(at, excluded.at) else excluded.at end`,
      ...[id, at, isRemoved],
    );
  }

  #forgetMember(id: string): void {
    this.#sql.exec("delete from leaving_members where id = ?", id);
  }

  #isRemoved(id: string): boolean {
    const query = "select 1 from leaving_members where id = ? and is_removed = 1";
    return this.#sql.exec(query, id).toArray().length > 0;
  }

  #hasMentions(): boolean {
    return this.#sql.exec(`select 1 ${OF_REMOVED} limit 1`).toArray().length > 0;
  }

  #hasChats(memberId: string): boolean {
    const query = "select 1 from chats where assignee = ? and active_at is not null limit 1";
    return this.#sql.exec(query, memberId).toArray().length > 0;
  }

  #chats(limit: number): HeldChat[] {
    // A cross join reads the members first. SQLite would begin with all chats.
    const query = `select chats.id, life, assignee from leaving_members cross join chats on assignee = leaving_members.id
      where is_removed = 1 and active_at is not null and ${this.#retries.isFresh} limit ?`;
    return this.#sql.exec<HeldChat>(query, limit).toArray();
  }
}
