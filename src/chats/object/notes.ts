import type {
  AddNoteAnswer,
  CallerName,
  ChatIdentity,
  DeleteNoteAnswer,
  NoteDraft,
  NotesAnswer,
  RefusedDraft,
  Unknown,
} from "../../model/chat-answers.ts";
import { MAX_DRAFTS, MAX_NOTES, type Mention, type Mentions, type Note, withoutContent } from "../../model/note.ts";
import { readListCursor, writeListCursor } from "../../model/opaque.ts";
import type { ChatFiles } from "./files/chat-files.ts";
import type { ChatTables, LateTable } from "./log/chat-tables.ts";
import type { NewEvent } from "./log/event-log.ts";
import { isFull } from "./log/limits.ts";
import type { MessageLog } from "./log/message-log.ts";
import type { Addition } from "./log/rows.ts";

/** How many blank deleted notes are kept, and for how long, so that a repeated request finds its note. */
const MAX_DELETED = 1_000;
const DELETED_KEPT_MS = 30 * 86_400_000;
/** The key under which it is stored who is mentioned. */
const MENTIONS = "mentions";
/** The key under which the id of each author's draft is stored. */
const DRAFTS = "drafts";
const DROP_ONE = "Send or delete one first";
/** The longest notes have 25 KB as JSON. */
const EXPORTED_AT_ONCE = 20;

/** How many notes there are, and when the oldest one was written, or the oldest deleted one. */
type Known = { count: number; oldestAt: number | null };
const NO_NOTES: Known = { count: 0, oldestAt: null };
type NoteRow = { n: number; doc: string; fingerprint: string | null; deletedAt: number | null };

const COLUMNS = "n, doc, fingerprint, deleted_at as deletedAt";

/** What deletes a note, in a commit. `doc`: the JSON of the blank note. `write` returns what is known after it. */
interface Deletion extends Addition {
  doc: string;
  write: () => Known | undefined;
}

interface Parts {
  storage: { kv: SyncKvStorage };
  tables: ChatTables;
  log: MessageLog;
  files: Pick<ChatFiles, "keepChat">;
}

/** The notes of a chat's company, beside its messages. */
export class Notes {
  readonly #kv: SyncKvStorage;
  readonly #notes: LateTable;
  readonly #log: MessageLog;
  readonly #files: Pick<ChatFiles, "keepChat">;
  /** Undefined if not read. The cost of reading it grows with the length of the notes. */
  #known: Known | undefined;

  constructor({ storage, tables, log, files }: Parts) {
    this.#kv = storage.kv;
    this.#notes = tables.notes;
    this.#log = log;
    this.#files = files;
  }

  /**
   * Stores a note, once for an idempotency key and once for a call that is repeated. Both are checked first: a repeat
   * gets its note even if a member whom it mentions was deleted by now.
   */
  add({ chatId }: ChatIdentity, given: NoteDraft): Exclude<AddNoteAnswer, Unknown> {
    const { id, author, content, mentions, isDraft = false, fingerprint, idempotencyHash: dedupe } = given;
    const earlier = this.earlier(given);
    if (earlier) return earlier;
    const refusal = this.refusalOf(given);
    if (refusal) return refusal;
    const { count, oldestAt } = this.#read();
    const replaced = isDraft ? this.takeDraft(this.#drafts()[author.id], author) : null;
    const at = Date.now();
    const createdAt = new Date(at).toISOString();
    const afterSeq = this.#log.newest().seq;
    const note: Note = { id, chatId, author, content, mentions, afterSeq, createdAt };
    if (isDraft) note.draft = true;
    const doc = JSON.stringify(note);
    const created: NewEvent = { type: "note.created", seq: null, note: { note: withoutContent(note) }, at };
    this.#commit(replaced ? [replaced.event, created] : [created], () => {
      const known = replaced ? replaced.write() : { count, oldestAt };
      this.#notes.insert(
        "insert into notes (id, doc, dedupe, fingerprint, created_at) values (?, ?, ?, ?, ?)",
        ...[id, doc, dedupe, fingerprint, at],
      );
      const mentioned = Object.fromEntries(mentions.map((memberId) => [memberId, { noteId: id, afterSeq, at }]));
      if (mentions.length > 0) this.#kv.put(MENTIONS, { ...this.mentions(), ...mentioned });
      if (isDraft) this.#kv.put(DRAFTS, { ...this.#drafts(), [author.id]: id });
      this.#files.keepChat();
      return known && { count: known.count + 1, oldestAt: Math.min(known.oldestAt ?? at, at) };
    });
    return { outcome: "stored", doc, replayed: false };
  }

  /** The answer to a repeat; null if the note is new. */
  earlier({ id, idempotencyHash: dedupe, fingerprint }: NoteDraft): Exclude<AddNoteAnswer, Unknown> | null {
    const own = this.#where("id = ?", id);
    if (own) return { outcome: "stored", doc: own.doc, replayed: false };
    const first = dedupe === null ? null : this.#where("dedupe = ?", dedupe);
    if (!first) return null;
    // A deleted note has no fingerprint left to compare.
    if (first.deletedAt === null && first.fingerprint !== fingerprint) {
      return { outcome: "refused", code: "idempotency_mismatch" };
    }
    return { outcome: "stored", doc: first.doc, replayed: true };
  }

  /** Why a new note can't be stored; null if it can. A draft takes the place of the one that its author has. */
  refusalOf({ faults = [], isDraft = false, author }: NoteDraft): RefusedDraft | null {
    if (faults.length > 0) return { outcome: "refused", code: "validation_failed", faults };
    if (isFull(this.#log)) return { outcome: "refused", code: "chat_full" };
    const drafts = this.#drafts();
    const draftCount = Object.keys(drafts).length;
    if (!isDraft) {
      return this.#read().count - draftCount >= MAX_NOTES ? { outcome: "refused", code: "note_limit" } : null;
    }
    if (draftCount < MAX_DRAFTS || drafts[author.id] !== undefined) return null;
    return { outcome: "refused", code: "note_limit", text: `The chat already has ${MAX_DRAFTS} drafts. ${DROP_ONE}` };
  }

  /** The notes behind a cursor or before a note, or the newest ones, newest first. */
  list({ chatId }: ChatIdentity, before: string | null, limit: number): Exclude<NotesAnswer, Unknown> {
    const place = before === null ? Number.MAX_SAFE_INTEGER : this.#placeOf(chatId, before);
    if (place === undefined) return { outcome: "unknown_cursor" };
    const query = "select n, doc from notes where n < ? and deleted_at is null order by n desc limit ?";
    const rows = this.#notes.run<{ n: number; doc: string }>(query, place, limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    const cursor = last ? writeListCursor(chatId, [last.n]) : null;
    const pagination = JSON.stringify({ limit, hasMore: cursor !== null, cursor });
    return { outcome: "ok", body: `{"notes":[${page.map(({ doc }) => doc).join()}],"pagination":${pagination}}` };
  }

  /** A cursor has the number itself, because its note can be removed. The id of a note is accepted while it is there. */
  #placeOf(chatId: string, before: string): number | undefined {
    const [n] = readListCursor(chatId, before, 1);
    if (Number.isSafeInteger(n)) return n as number;
    return this.#where("id = ?", before)?.n;
  }

  /**
   * What deletes a draft, in the commit that stores what takes its place.
   * @param id undefined for none
   * @returns null if there is no such draft
   */
  takeDraft(id: string | undefined, by: CallerName): Deletion | null {
    const row = id === undefined ? null : this.#where("id = ?", id);
    if (!row || row.deletedAt !== null) return null;
    const note = JSON.parse(row.doc) as Note;
    return note.draft ? this.#deletion(row.n, note, by, this.#known) : null;
  }

  /**
   * Deletes a note.
   * @param mayAll whether `by` may delete those of others. Everybody may delete drafts
   * @param isRepeat an earlier call may have deleted it
   */
  delete(id: string, by: CallerName, mayAll: boolean, isRepeat: boolean): Exclude<DeleteNoteAnswer, Unknown> {
    const row = this.#where("id = ?", id);
    if (!row) return { outcome: "no_note" };
    if (row.deletedAt !== null) return isRepeat ? { outcome: "ok", doc: row.doc } : { outcome: "no_note" };
    const note = JSON.parse(row.doc) as Note;
    const isAuthor = note.author.type === by.type && note.author.id === by.id;
    if (!isAuthor && !mayAll && !note.draft) return { outcome: "not_author" };
    const { doc, event, write } = this.#deletion(row.n, note, by, this.#read());
    this.#commit([event], write);
    return { outcome: "ok", doc };
  }

  /** @param known undefined if it was not read */
  #deletion(n: number, note: Note, by: CallerName, known: Known | undefined): Deletion {
    const at = Date.now();
    const blank: Note = { ...note, content: "", deletedAt: new Date(at).toISOString() };
    const doc = JSON.stringify(blank);
    return {
      doc,
      event: { type: "note.deleted", seq: null, note: { note: withoutContent(blank), by }, at },
      write: () => {
        this.#known = undefined;
        this.#notes.run("update notes set doc = ?, fingerprint = null, deleted_at = ? where n = ?", doc, at, n);
        const query = `delete from notes where deleted_at <= ? or n in
          (select n from notes where deleted_at is not null order by deleted_at desc, n desc limit -1 offset ?)
          returning n`;
        const removed = this.#notes.run(query, at - DELETED_KEPT_MS, MAX_DELETED);
        if (note.mentions.length > 0) this.#storeMentions();
        if (note.draft) this.#forgetDraft(note);
        return known && removed.length === 0 ? { ...known, count: known.count - 1 } : undefined;
      },
    };
  }

  /**
   * The notes after the number `after`, oldest first, as lines of an export of about `characters`.
   * @returns `last`: the number of the last note
   */
  exportedLines(after: number, characters: number): { lines: string; last: number; isComplete: boolean } {
    let lines = "";
    let last = after;
    while (lines.length < characters) {
      const query = "select n, doc from notes where n > ? and deleted_at is null order by n limit ?";
      const rows = this.#notes.run<{ n: number; doc: string }>(query, last, EXPORTED_AT_ONCE);
      for (const { doc } of rows) lines += `{"type":"note","note":${doc}}\n`;
      last = rows.at(-1)?.n ?? last;
      if (rows.length < EXPORTED_AT_ONCE) return { lines, last, isComplete: true };
    }
    return { lines, last, isComplete: false };
  }

  /** When the oldest note was written, Unix milliseconds; null if there is none. It may be deleted. */
  oldestAt(): number | null {
    return this.#read().oldestAt;
  }

  /** Removes the notes that were written up to `at`, Unix milliseconds. @returns whether it removed any */
  purge(at: number): boolean {
    if ((this.oldestAt() ?? Number.POSITIVE_INFINITY) > at) return false;
    this.#known = undefined;
    this.#notes.run("delete from notes where created_at <= ?", at);
    if (this.mentions()) this.#storeMentions();
    this.#storeDrafts();
    return true;
  }

  /** The newest note that mentions each member; undefined if none ever mentioned anybody. */
  mentions(): Mentions | undefined {
    return this.#notes.exists ? this.#kv.get<Mentions>(MENTIONS) : undefined;
  }

  forget(): void {
    this.#known = undefined;
  }

  /** Finds who is mentioned after notes were deleted: an older note may mention a member too. */
  #storeMentions(): void {
    const query = `select value as memberId, notes.id as noteId, doc ->> '$.afterSeq' as afterSeq, created_at as at, max(n)
      from notes, json_each(doc, '$.mentions') where deleted_at is null group by value`;
    const rows = this.#notes.run<{ memberId: string } & Record<keyof Mention, never>>(query);
    const entries = rows.map(({ memberId, noteId, afterSeq, at }) => [memberId, { noteId, afterSeq, at }]);
    this.#kv.put(MENTIONS, Object.fromEntries(entries));
  }

  /** The id of each author's draft, by the author's id. */
  #drafts(): Record<string, string> {
    return (this.#notes.exists ? this.#kv.get<Record<string, string>>(DRAFTS) : undefined) ?? {};
  }

  #forgetDraft({ author, id }: Note): void {
    const { [author.id]: draft, ...others } = this.#drafts();
    if (draft === id) this.#kv.put(DRAFTS, others);
  }

  /** Forgets the drafts that were removed. */
  #storeDrafts(): void {
    const drafts = Object.entries(this.#drafts());
    const kept = drafts.filter(([, id]) => this.#where("id = ?", id)?.deletedAt === null);
    if (kept.length < drafts.length) this.#kv.put(DRAFTS, Object.fromEntries(kept));
  }

  /** @param write returns what is known after it; undefined to read it again */
  #commit(events: NewEvent[], write: () => Known | undefined): void {
    // Nothing is known after a commit that failed.
    this.#known = undefined;
    let known: Known | undefined;
    this.#log.commit(events, () => {
      known = write();
    });
    this.#known = known;
  }

  #read(): Known {
    const query = "select count(*) - count(deleted_at) as count, min(created_at) as oldestAt from notes";
    this.#known ??= this.#notes.run<Known>(query)[0] ?? NO_NOTES;
    return this.#known;
  }

  #where(condition: string, value: string): NoteRow | null {
    const [row] = this.#notes.run<NoteRow>(`select ${COLUMNS} from notes where ${condition}`, value);
    return row ?? null;
  }
}
