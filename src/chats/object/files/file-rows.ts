import type { FileMedia } from "../../../model/chat-answers.ts";
import type { ChatTables, LateTable } from "../log/chat-tables.ts";

/** Who uploaded a file. The unused files of each have limits of their own, so that neither takes the other's room. */
export type Uploader = "company" | "visitor";

/**
 * `reserved`: its bytes may be on their way. `unused`: no message names it yet. `ended`: no message shows it now,
 * `messageId` was the last one. `shared`: the number of messages that show it, as some repeat others. `life`: all files
 * of the chat's lives up to that one.
 */
export type FileState =
  | { state: "reserved"; size: number; fileName: string | null; uploader?: Uploader }
  | { state: "unused"; size: number; info: Omit<FileMedia, "fileId">; uploader?: Uploader }
  | { state: "ended"; size: number; messageId: string; openUntil?: number | undefined }
  | { state: "shared"; messages: number }
  | { state: "life"; life: number };

/** A file that no message or several messages show. Its bytes are deleted at `deleteAt`, Unix milliseconds. */
export interface FileRow {
  id: string;
  meta: FileState;
  deleteAt: number;
}

/** Shared files stay. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** An upload with an idempotency key. `doc`: what its client was answered; null while it is under way. */
export interface UploadRow {
  id: string;
  size: number;
  doc: string | null;
}

type FileColumns = { id: string; meta: string; deleteAt: number };

const COLUMNS = "id, meta, delete_at as deleteAt";

/** The files of a chat that no message or several messages show, and its uploads with an idempotency key. */
export class FileRows {
  readonly #files: LateTable;
  readonly #uploads: LateTable;
  /** When the next file is deleted, Unix milliseconds; null if there is none, undefined if not read. */
  #nextAt: number | null | undefined;

  constructor(tables: ChatTables) {
    this.#files = tables.files;
    this.#uploads = tables.uploads;
  }

  /** When the next file is deleted, Unix milliseconds; null if there is none. It can be in the past. */
  nextAt(): number | null {
    if (this.#nextAt === undefined) {
      const [row] = this.#files.run<{ at: number | null }>("select min(delete_at) as at from files");
      this.#nextAt = row?.at == null || row.at === NEVER ? null : row.at;
    }
    return this.#nextAt;
  }

  /** The same without the files that are only reserved. */
  nextStoredAt(): number | null {
    const query = `select min(delete_at) as at from files where delete_at < ? and meta ->> '$.state' <> 'reserved'`;
    const [row] = this.#files.run<{ at: number | null }>(query, NEVER);
    return row?.at ?? null;
  }

  byId(id: string): FileRow | null {
    const [row] = this.#files.run<FileColumns>(`select ${COLUMNS} from files where id = ?`, id);
    return row ? fileRow(row) : null;
  }

  /** The files of an uploader that wait for a message, and how many bytes they have. */
  waiting(uploader: Uploader, now: number): { count: number; bytes: number } {
    const query = `select count(*) as count, sum(meta ->> '$.size') as bytes from files where delete_at > ?
      and meta ->> '$.state' in ('reserved', 'unused') and coalesce(meta ->> '$.uploader', 'company') = ?`;
    const [row] = this.#files.run<{ count: number; bytes: number | null }>(query, now, uploader);
    return { count: row?.count ?? 0, bytes: row?.bytes ?? 0 };
  }

  put({ id, meta, deleteAt }: FileRow): void {
    this.#files.insert(
      "insert into files (id, meta, delete_at) values (?, ?, ?) on conflict (id) do update set meta = excluded.meta, delete_at = excluded.delete_at",
      ...[id, JSON.stringify(meta), deleteAt],
    );
    this.#nextAt = undefined;
  }

  /** A message shows the file now. */
  remove(id: string): void {
    this.#files.run("delete from files where id = ?", id);
    this.#nextAt = undefined;
  }

  /** The files that are due to be deleted now, at most `limit`. */
  due(now: number, limit: number): FileRow[] {
    return this.#files
      .run<FileColumns>(`select ${COLUMNS} from files where delete_at <= ? limit ?`, now, limit)
      .map(fileRow);
  }

  /** The files of a message that is blank or gone. */
  endedOf(messageId: string): string[] {
    return this.#files
      .run<{ id: string }>("select id from files where meta ->> '$.messageId' = ?", messageId)
      .map(({ id }) => id);
  }

  /** Their bytes were deleted. Rows that are no longer due stay, and so do those that an upload may still write. */
  deleted(ids: readonly string[], now: number): void {
    const due = "delete_at <= ? and id in (select value from json_each(?))";
    const given = [now, JSON.stringify(ids)];
    const openUntil = "meta ->> '$.openUntil'";
    this.#files.run(`update files set delete_at = ${openUntil} where ${due} and ${openUntil} > ?`, ...given, now);
    this.#files.run(`delete from files where ${due}`, ...given);
    this.#nextAt = undefined;
  }

  upload(dedupe: string): UploadRow | null {
    const query = "select id, size, doc from uploads where dedupe = ?";
    const [row] = this.#uploads.run<{ id: string; size: number; doc: string | null }>(query, dedupe);
    return row ?? null;
  }

  putUpload(dedupe: string, { id, size }: Omit<UploadRow, "doc">): void {
    this.#uploads.insert(
      "insert into uploads (dedupe, id, size) values (?, ?, ?) on conflict (dedupe) do update set id = excluded.id",
      ...[dedupe, id, size],
    );
  }

  /** An upload has ended: its key gets this answer from now on. */
  answered(id: string, dedupe: string, doc: string): void {
    this.#uploads.run("update uploads set doc = ? where dedupe = ? and id = ?", doc, dedupe, id);
  }

  /** A change failed, or the storage was deleted. */
  forget(): void {
    this.#nextAt = undefined;
  }
}

function fileRow({ id, meta, deleteAt }: FileColumns): FileRow {
  return { id, meta: JSON.parse(meta) as FileState, deleteAt };
}
