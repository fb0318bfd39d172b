import { answerOfR2, bucketOf, chatPrefix, fileKey, lifeOfKey } from "../../../calls/file-bucket.ts";
import type {
  ChatIdentity,
  ConfirmAnswer,
  ConfirmRequest,
  FileMedia,
  FileRequest,
  Media,
  RefusedDraft,
  ReserveAnswer,
  Unknown,
} from "../../../model/chat-answers.ts";
import { unavailable } from "../../../model/error.ts";
import type { FileInfo } from "../../../model/file.ts";
import type { DuePart } from "../../../platform/object/due-work.ts";
import type { Adoption } from "../identity.ts";
import type { ChatTables } from "../log/chat-tables.ts";
import { isFull } from "../log/limits.ts";
import type { MessageLog } from "../log/message-log.ts";
import { type FileRow, FileRows, NEVER, type Uploader } from "./file-rows.ts";
import { MAX_UNUSED_BYTES, MAX_UNUSED_FILES, RESERVED_MS, UNUSED_MS } from "./limits.ts";

/** How many files R2 deletes in one call. */
const STEP_SIZE = 1_000;
/** How many steps one run takes at most to delete whole lives. */
const MAX_STEPS = 100;
/** How many calls of one run may fail: enough to find one file among `STEP_SIZE` that can't be deleted. */
const MAX_FAILURES = 12;
/** A run in which a call failed ends after this time. */
const PATIENCE_MS = 30_000;
/** The clocks of two instances may differ by this much. */
const CLOCK_SKEW_MS = 60_000;
/** Set in a chat that ever reserved a file: only then are there bytes to look for when the chat ends. */
const HAS_FILES = "files";
/** Set in a chat that a visitor began with a file. */
const BEGUN = "begunByFile";

/** The parts of the chat that its files use. The last two use files, so their classes aren't imported. */
interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  tables: ChatTables;
  adoption: Adoption;
  log: MessageLog;
  /** See `ScheduledMessages`. */
  scheduled: { showsFile(fileId: string): boolean; dueAt(now: number): number | null };
  /** See `Erasure`. */
  erasure: { deleteChat(identity: ChatIdentity): Promise<void> };
}

/**
 * The files of a chat. Their bytes are in R2, under the chat's life. A file that no message shows has a row with the
 * time at which its bytes are deleted. A row is written before its bytes and deleted after them. So wherever a step is
 * interrupted, the row leads to the bytes, and nothing is ever searched for.
 */
export class ChatFiles implements DuePart {
  readonly #parts: Parts;
  readonly rows: FileRows;
  /** Whether a visitor began the chat with a file; undefined if not read. */
  #isBegun: boolean | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.rows = new FileRows(parts.tables);
  }

  /**
   * A file begins the chat. If nothing else comes, the chat is deleted with its last file; see `keepChat`. Part of the
   * adoption's commit.
   */
  begin(): void {
    this.#parts.storage.kv.put(BEGUN, true);
    this.#isBegun = true;
  }

  /** The chat has more than files from now on, or the company has created it too. Part of that commit. */
  keepChat(): void {
    if (!this.#begun()) return;
    this.#parts.storage.kv.delete(BEGUN);
    // Read again: the commit may fail.
    this.#isBegun = undefined;
  }

  /** Makes room for a file of this uploader. Its bytes may be written from now on, for some minutes. */
  reserve(
    { life }: ChatIdentity,
    { id, size, fileName, idempotencyHash }: FileRequest,
    uploader: Uploader,
  ): Exclude<ReserveAnswer, Unknown> {
    const { storage, tables, log } = this.#parts;
    const now = Date.now();
    const known = idempotencyHash === null ? null : this.rows.upload(idempotencyHash);
    if (known && known.size !== size) return { outcome: "refused", code: "idempotency_mismatch" };
    if (known?.doc) return { outcome: "stored", doc: known.doc };
    // A file that is due is never used again: its bytes may be under deletion.
    const standing = this.rows.byId(known?.id ?? id);
    if (standing?.meta.state === "reserved" && isLasting(standing, now)) {
      // This upload may write as late as any other.
      this.rows.put({ ...standing, deleteAt: now + RESERVED_MS });
      return { outcome: "reserved", id: standing.id, life };
    }
    // A call that arrives after its own repeat: by now the file may be confirmed, or a message shows it.
    if (this.rows.byId(id) || this.#isUsed(id)) return { outcome: "reserved", id, life };
    if (isFull(log)) return { outcome: "refused", code: "chat_full" };
    const { count, bytes } = this.rows.waiting(uploader, now);
    if (count >= MAX_UNUSED_FILES || bytes + size > MAX_UNUSED_BYTES)
      return { outcome: "refused", code: "upload_limit" };
    tables.transaction(() => {
      if (!storage.kv.get(HAS_FILES)) storage.kv.put(HAS_FILES, true);
      this.rows.put({ id, meta: { state: "reserved", size, fileName, uploader }, deleteAt: now + RESERVED_MS });
      if (idempotencyHash !== null) this.rows.putUpload(idempotencyHash, { id, size });
    });
    return { outcome: "reserved", id, life };
  }

  /** The bytes of a reserved file are stored: a message can name it. Repeating the call gets the same answer. */
  confirm(
    identity: ChatIdentity,
    { id, life, info, idempotencyHash }: ConfirmRequest,
  ): Exclude<ConfirmAnswer, Unknown> {
    const now = Date.now();
    const row = this.rows.byId(id);
    if (!row || !isLasting(row, now) || identity.life !== life) return { outcome: "gone" };
    const { meta } = row;
    if (meta.state === "unused") return { outcome: "ok", doc: shownUpload(id, meta.info, row.deleteAt) };
    if (meta.state !== "reserved") return { outcome: "gone" };
    const deleteAt = now + UNUSED_MS;
    const doc = shownUpload(id, info, deleteAt);
    const file = idempotencyHash === null ? info : { ...info, openUntil: row.deleteAt };
    const { uploader = "company" } = meta;
    this.#parts.tables.transaction(() => {
      this.rows.put({ id, meta: { state: "unused", size: info.size, info: file, uploader }, deleteAt });
      if (idempotencyHash !== null) this.rows.answered(id, idempotencyHash, doc);
    });
    return { outcome: "ok", doc };
  }

  /** The unused file that a message names, or why it can't be sent. */
  find(fileId: string): FileMedia | RefusedDraft {
    const row = this.rows.byId(fileId);
    if (row?.meta.state === "unused" && isLasting(row, Date.now())) return { fileId, ...row.meta.info };
    const isUsed = row ? row.meta.state === "shared" : this.#isUsed(fileId);
    return { outcome: "refused", code: isUsed ? "media_used" : "media_not_found" };
  }

  /** A message shows the file from now on, the first one. Part of the message's commit. */
  use({ fileId }: FileMedia): void {
    this.rows.remove(fileId);
  }

  /** A message that repeats another one shows the same file. Part of the message's commit. */
  share({ fileId }: FileMedia): void {
    const known = this.rows.byId(fileId)?.meta;
    const messages = known?.state === "shared" ? known.messages + 1 : 2;
    this.rows.put({ id: fileId, meta: { state: "shared", messages }, deleteAt: NEVER });
  }

  /**
   * A message no longer shows its media: it is blank or deleted. The bytes of an uploaded file are deleted, unless
   * another message shows it. Part of that commit.
   */
  end(media: Media | null, messageId: string, now: number): void {
    if (!isFileMedia(media)) return;
    const { fileId, size, openUntil } = media;
    const known = this.rows.byId(fileId)?.meta;
    if (known?.state !== "shared") {
      this.rows.put({ id: fileId, meta: { state: "ended", size, messageId, openUntil }, deleteAt: now });
    } else if (known.messages > 2) {
      this.rows.put({ id: fileId, meta: { state: "shared", messages: known.messages - 1 }, deleteAt: NEVER });
    } else this.rows.remove(fileId);
  }

  /** A message that was canceled before it had a place gives its file back, unless it shares it. Part of that commit. */
  giveBack(media: Media | null, messageId: string, now: number): void {
    if (!isFileMedia(media)) return;
    const { fileId, ...info } = media;
    if (this.rows.byId(fileId)) this.end(media, messageId, now);
    else this.rows.put({ id: fileId, meta: { state: "unused", size: info.size, info }, deleteAt: now + UNUSED_MS });
  }

  /** The chat begins in the place of deleted ones: their late bytes are deleted at `deleteAt`. Part of that commit. */
  follow(life: number, deleteAt: number): void {
    this.#parts.storage.kv.put(HAS_FILES, true);
    this.rows.put({ id: `life ${life}`, meta: { state: "life", life }, deleteAt });
  }

  /** Deletes the bytes of a blank message's files now. @returns whether they are gone */
  async deleteNow(messageId: string): Promise<boolean> {
    const ids = this.rows.endedOf(messageId);
    if (ids.length === 0) return true;
    try {
      return await this.#delete(ids);
    } catch {
      // The alarm tries again, and says why it can't.
      return false;
    }
  }

  /** When the next bytes are deleted; null if none are, or if they can't be, because no bucket is bound. */
  dueAt(now: number): number | null {
    const identity = this.#parts.adoption.identity();
    if (identity && this.#isOver()) return now;
    const nextAt = identity ? this.rows.nextAt() : null;
    return identity && nextAt !== null && bucketOf(this.#parts.env, identity.chatId) ? nextAt : null;
  }

  /** When the next bytes are deleted that no upload may still write; null if none are. */
  deletesAt(): number | null {
    // Most chats have no file, and know that without a query.
    return this.#parts.adoption.identity() && this.rows.nextAt() !== null ? this.rows.nextStoredAt() : null;
  }

  /** Deletes the bytes that are due, then their rows. @throws if R2 does not delete all of them */
  async run(now: number): Promise<void> {
    const { adoption, env } = this.#parts;
    const identity = adoption.identity();
    if (!identity || (this.dueAt(now) ?? NEVER) > now) return;
    const { chatId, life } = identity;
    const due = this.rows.due(now, STEP_SIZE);
    const files = due.filter(({ meta }) => meta.state !== "life").map(({ id }) => id);
    const failure = files.length > 0 ? await this.#deleteInParts(files, now) : null;
    for (const { id, meta } of due) {
      if (meta.state !== "life" || !adoption.exists(life)) continue;
      await deleteLives(env, chatId, meta.life);
      if (adoption.exists(life)) this.rows.deleted([id], now);
    }
    if (failure) throw failure.error;
    if (adoption.exists(life) && this.#isOver()) await this.#parts.erasure.deleteChat(identity);
  }

  /** The storage was deleted, or a write failed. */
  forget(): void {
    this.rows.forget();
    this.#isBegun = undefined;
  }

  /** Whether the chat ever reserved a file. */
  get hasAny(): boolean {
    return this.#parts.storage.kv.get(HAS_FILES) === true;
  }

  #begun(): boolean {
    this.#isBegun ??= this.#parts.storage.kv.get(BEGUN) === true;
    return this.#isBegun;
  }

  /** Whether the chat began with a file, and no file is left and no message came. */
  #isOver(): boolean {
    if (!this.#begun() || this.rows.nextAt() !== null) return false;
    const { log, scheduled } = this.#parts;
    return log.newest().seq === 0 && scheduled.dueAt(Date.now()) === null;
  }

  /** Whether a message names the file; see `media_used`. */
  #isUsed(fileId: string): boolean {
    const { log, scheduled } = this.#parts;
    return log.showsFile(fileId) || scheduled.showsFile(fileId);
  }

  /** Deletes the bytes of files. Where R2 fails, it is asked for each half: one file must not hold up the others. */
  async #deleteInParts(ids: string[], now: number): Promise<{ error: unknown } | null> {
    const parts = [ids];
    let failures = 0;
    let failure: { error: unknown } | null = null;
    for (let part = parts.pop(); part; part = parts.pop()) {
      try {
        if (!(await this.#delete(part))) return null;
      } catch (error) {
        failure = { error };
        if (++failures === MAX_FAILURES || Date.now() > now + PATIENCE_MS) break;
        const half = part.length >> 1;
        if (half > 0) parts.push(part.slice(half), part.slice(0, half));
      }
    }
    return failure;
  }

  /** @returns false if the chat was deleted meanwhile @throws if R2 does not answer */
  async #delete(ids: string[]): Promise<boolean> {
    const { adoption, env } = this.#parts;
    const identity = adoption.identity();
    const bucket = identity && bucketOf(env, identity.chatId);
    if (!identity) return false;
    if (!bucket) throw new Error("No bucket is bound");
    const { chatId, life } = identity;
    const keys = ids.map((mediaId) => fileKey({ chatId, life, mediaId }));
    await answerOfR2(() => bucket.delete(keys));
    if (!adoption.exists(life)) return false;
    this.rows.deleted(ids, Date.now());
    return true;
  }
}

/**
 * Deletes all bytes of a chat's lives up to the last one that was deleted.
 * @throws ApiError `unavailable` if R2 does not answer, no bucket is bound, or more is left
 */
export async function deleteLives(env: Env, chatId: string, last: number): Promise<void> {
  const bucket = bucketOf(env, chatId);
  if (!bucket) throw unavailable("files: no bucket is bound");
  const prefix = chatPrefix(chatId);
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const { objects } = await answerOfR2(() => bucket.list({ prefix, limit: STEP_SIZE }));
    // R2 lists by keys, so those of a later life come last.
    const keys = objects.map(({ key }) => key).filter((key) => lifeOfKey(key) <= last);
    if (keys.length === 0) return;
    await answerOfR2(() => bucket.delete(keys));
  }
  throw unavailable("files: more are left to delete");
}

/** Whether a message's media is an uploaded file. */
export function isFileMedia(media: Media | null): media is FileMedia {
  return media !== null && "fileId" in media;
}

/** Whether no instance of the object can have begun to delete the bytes: the clock of an earlier one may have been ahead. */
function isLasting({ deleteAt }: FileRow, now: number): boolean {
  return deleteAt > now + CLOCK_SKEW_MS;
}

function shownUpload(id: string, { contentType, size, fileName, width, height }: FileInfo, deleteAt: number): string {
  const expiresAt = new Date(deleteAt - CLOCK_SKEW_MS).toISOString();
  return JSON.stringify({ id, contentType, size, fileName, width, height, expiresAt });
}
