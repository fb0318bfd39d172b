import type { Draft, SendAnswer } from "../../../src/model/chat-answers.ts";
import { storedIdentity } from "../objects/identity.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { Book, Row } from "./book.ts";
import type { Bucket } from "./bucket.ts";
import { isBlank } from "./content-judge.ts";
import type { LifeWorld } from "./rules.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
/** How far the clocks of two instances can be apart, and an alarm late. */
const MARGIN_MS = 3 * MINUTE;
const RESERVED_MS = 10 * MINUTE;

/** What a client uploads. */
export interface Uploaded {
  chatId: string;
  idempotencyKey: string | null;
  fileName: string;
  bytes: string;
}

interface Entry {
  state: string;
  deleteAt: number;
  /** The last message that showed it. */
  messageId: string | null;
}

/** What is known of the files of one life of a chat. */
interface Known {
  chat: SimulatedObject;
  book: Book;
  /** The chat's rows of files, by their ids. */
  entries: ReadonlyMap<string, Entry>;
  /** The file of each message that ever showed one, and the message that it repeats, or itself. */
  fileOf: Map<string, string>;
  rootOf: Map<string, string>;
  /** Files that ended, and whose reservation and confirmation both arrived once more after that: they have no bytes. */
  again: Set<string>;
}

/** Checks that the bytes of files are there as long as they must be, and not longer. */
export class FileJudge {
  readonly #world: LifeWorld;
  readonly #bucket: Bucket;
  readonly #lives = new Map<string, Known>();
  /** The bytes that a file's client was told to be stored, and the file of each idempotency key. */
  readonly #told = new Map<string, string>();
  readonly #byKey = new Map<string, string>();

  constructor(world: LifeWorld, bucket: Bucket) {
    this.#world = world;
    this.#bucket = bucket;
    bucket.onDeleted = (key) => this.#deleted(key);
  }

  /** A client was told that its file is stored. */
  uploaded({ chatId, idempotencyKey, fileName, bytes }: Uploaded, doc: string): void {
    const world = this.#world;
    const told = JSON.parse(doc) as { id: string; size: number; fileName: string };
    const { id } = told;
    const key = [...this.#bucket.first.keys()].find((each) => each.startsWith(`${chatId}/`) && each.endsWith(`/${id}`));
    const isRight = told.size === bytes.length && told.fileName === fileName;
    world.check("told", isRight, () => `the upload of ${fileName} was answered with ${doc}`);
    world.check("bytes", key !== undefined, () => `${id} was confirmed, and its bytes were never stored`);
    if (key === undefined) return;
    const stored = this.#bucket.first.get(key);
    world.check("bytes", stored === bytes, () => `${id} has the bytes of another upload`);
    this.#told.set(id, bytes);
    if (idempotencyKey === null) return;
    const name = `${key.slice(0, key.lastIndexOf("/"))} ${idempotencyKey}`;
    const first = this.#byKey.get(name) ?? id;
    world.check("oneFile", first === id, () => `${idempotencyKey} gives the file ${id}, and gave ${first} before`);
    this.#byKey.set(name, id);
  }

  /** A chat's object has committed. */
  committed(chat: SimulatedObject, book: Book): void {
    const before = this.#of(chat, book);
    const known = { ...before, entries: entriesOf(chat) };
    this.#lives.set(chat.name, known);
    for (const [id, row] of book.rows) if (book.before.get(id) !== row) this.#changed(before, known, row);
    this.#checkOwners(known);
    for (const [id, { state, deleteAt }] of known.entries) {
      const most = state === "unused" ? DAY : state === "reserved" ? RESERVED_MS : null;
      const isBounded = most === null || deleteAt <= book.latest + most + MARGIN_MS;
      this.#world.check("unused", isBounded, () => `${id} is ${state} until ${deleteAt}`);
      const isNew = before.entries.get(id)?.state === "reserved";
      if (state === "unused" && isNew && [...known.fileOf.values()].includes(id)) {
        this.#world.count("a file that ended is confirmed again");
        known.again.add(id);
      }
      if (state === "unused" && deleteAt > chat.now + MARGIN_MS) this.#checkBytes(known, id, "is unused");
    }
  }

  /** The redaction of a message is answered. */
  redacted(chat: SimulatedObject, book: Book, messageId: string): void {
    const known = this.#of(chat, book);
    const file = known.fileOf.get(messageId);
    if (file === undefined || this.#isShown(known, file)) return;
    // Another one showed it until now, whose own redaction is under way.
    const { messageId: last = null } = known.entries.get(file) ?? {};
    if (last !== null && last !== messageId) return;
    const key = keyOf(known, file);
    // An upload with the same key that was under way may write again: that ends too.
    const isGone = this.#bucket.bytes(key) === undefined || this.#bucket.late.has(key);
    this.#world.check("redactedFile", isGone, () => `${file} is there after the redaction of ${messageId}`);
  }

  /** The rows of a chat's files, by their ids. */
  entries(chat: SimulatedObject, book: Book): Known["entries"] {
    return this.#of(chat, book).entries;
  }

  /** Sends were answered. @param before the chat's rows of files when they arrived */
  answered(
    chat: SimulatedObject,
    book: Book,
    before: Known["entries"],
    { drafts, answers }: { drafts: Draft[]; answers: SendAnswer[] },
  ): void {
    const { entries } = this.#of(chat, book);
    const isFree = (entry: Entry | undefined) => entry?.state === "unused" && entry.deleteAt > chat.now + MARGIN_MS;
    for (const [n, { mediaId = "" }] of drafts.entries()) {
      const answer = answers[n];
      if (answer?.outcome !== "refused" || !answer.code.startsWith("media_")) continue;
      const isRight = !isFree(before.get(mediaId)) || !isFree(entries.get(mediaId));
      this.#world.check("refused", isRight, () => `${mediaId} was refused with ${answer.code}`);
    }
  }

  /** A network gets the bytes of a file. */
  sent(chat: SimulatedObject, messageId: string, bytes: string): void {
    const file = this.#lives.get(chat.name)?.fileOf.get(messageId) ?? "";
    const right = this.#told.get(file) ?? bytes;
    this.#world.count("a file is sent");
    this.#world.check("sentBytes", bytes === right && bytes !== "", () => `${messageId} is sent with "${bytes}"`);
  }

  /** The messages that show this file. */
  showing(chat: SimulatedObject, file: string): string[] {
    const rows = this.#lives.get(chat.name)?.book.rows ?? new Map<string, Row>();
    return [...rows].filter(([, row]) => fileIn(row) === file).map(([id]) => id);
  }

  /** The keys of the files of a chat that no message names yet. */
  unused(chat: SimulatedObject): string[] {
    const known = this.#lives.get(chat.name);
    const entries = known ? [...known.entries] : [];
    return entries.flatMap(([id, { state }]) => (known && state === "unused" ? keyOf(known, id) : []));
  }

  /** The messages that show a file. */
  shown(chat: SimulatedObject, book: Book): string[] {
    const { fileOf } = this.#of(chat, book);
    return [...fileOf.keys()].filter((id) => book.rows.has(id));
  }

  /** Faults have stopped some time ago. @param isWhole no unused file is left, and R2 deletes everything */
  checkQuiet(books: ReadonlyMap<string, Book | undefined>, isWhole: boolean): void {
    for (const key of this.#bucket.keys) {
      const [chatId = "", life, file = ""] = key.split("/");
      const book = books.get(chatId);
      const known = this.#lives.get(chatId);
      const isNow = book !== undefined && known?.book === book && String(book.life) === life;
      // A deletion is repeated until R2 deletes.
      if (!isWhole && (!isNow || this.#bucket.stuck.has(key))) continue;
      const entry = isNow ? known.entries.get(file) : undefined;
      const isUnused = isNow && !isWhole && entry?.state === "unused" && entry.deleteAt > known.chat.now - MARGIN_MS;
      const isRight = isNow && (this.#isShown(known, file) || isUnused);
      this.#world.check("left", isRight, () => `${key} is left, and no message shows it`);
    }
  }

  #of(chat: SimulatedObject, book: Book): Known {
    const known = this.#lives.get(chat.name);
    if (known?.book === book) return known;
    return { chat, book, entries: new Map(), fileOf: new Map(), rootOf: new Map(), again: new Set() };
  }

  #changed(before: Known, known: Known, row: Row): void {
    const world = this.#world;
    const { book, fileOf, rootOf } = known;
    const { id, resendOf, status } = row.message;
    const file = fileIn(row);
    const was = fileOf.get(id);
    if (!book.before.has(id)) {
      rootOf.set(id, resendOf === undefined ? id : (rootOf.get(resendOf) ?? resendOf));
      const original = resendOf === undefined ? undefined : fileOf.get(resendOf);
      const isRight = resendOf === undefined || (file ?? null) === (original ?? null) || !book.before.has(resendOf);
      world.check("shownFile", isRight, () => `${id} repeats ${resendOf} with ${file} instead of ${original}`);
      if (file !== undefined && resendOf === undefined) {
        const entry = before.entries.get(file);
        world.check("oneFile", entry?.state === "unused", () => `${id} took ${file}, which was ${entry?.state}`);
        world.count("a file is used");
      }
      if (file !== undefined && resendOf !== undefined) world.count("a file is shared");
    }
    if (file !== undefined) fileOf.set(id, file);
    const isCanceled = row.table === "unplaced" && status === "CANCELED";
    const mustNot = isBlank(row) || isCanceled;
    world.check("shownFile", file === undefined || !mustNot, () => `${id} is ${status} and has ${file}`);
    const isLost = was !== undefined && file === undefined && !mustNot;
    world.check("shownFile", !isLost, () => `${id} lost ${was}`);
    const isBack = was !== undefined && isCanceled && !isBlank(row) && book.before.get(id)?.table === "scheduled";
    if (!isBack) return;
    fileOf.delete(id);
    const isFree = known.entries.get(was)?.state === "unused" || this.#isShown(known, was);
    world.count("a file is given back");
    world.check("givenBack", isFree, () => `${was} of ${id}, which was canceled, is not given back`);
  }

  /** The bytes of each file are there, and it belongs to one message and those that repeat it. */
  #checkOwners(known: Known): void {
    const owners = new Map<string, string>();
    for (const [id, row] of known.book.rows) {
      const file = fileIn(row);
      if (file === undefined) continue;
      const root = known.rootOf.get(id) ?? id;
      const owner = owners.get(file) ?? root;
      this.#world.check("oneFile", owner === root, () => `${file} is of ${owner} and of ${root}`);
      owners.set(file, root);
      this.#checkBytes(known, file, `is shown by ${id}`);
    }
  }

  #checkBytes(known: Known, file: string, text: string): void {
    if (known.again.has(file)) return;
    const key = keyOf(known, file);
    const bytes = this.#bucket.bytes(key);
    const isRight = bytes !== undefined && bytes === (this.#told.get(file) ?? this.#bucket.first.get(key));
    this.#world.check("bytes", isRight, () => `${key} ${text}, and its bytes are ${bytes}`);
  }

  /** No deletion takes what is needed. */
  #deleted(key: string): void {
    const [chatId = "", life, file = ""] = key.split("/");
    const known = this.#lives.get(chatId);
    if (!known || String(known.book.life) !== life) return;
    if (storedIdentity(known.chat)?.life !== known.book.life) return;
    const entry = known.entries.get(file);
    const isUnused = entry?.state === "unused" && entry.deleteAt > known.chat.now + MARGIN_MS;
    const isNeeded = isUnused || this.#isShown(known, file);
    this.#world.check("bytes", !isNeeded, () => `the bytes of ${key} are deleted, and it is needed`);
  }

  #isShown({ book }: Known, file: string): boolean {
    return [...book.rows.values()].some((row) => fileIn(row) === file);
  }
}

function keyOf({ chat, book }: Known, file: string): string {
  return `${chat.name}/${book.life}/${file}`;
}

const files = new WeakMap<Row, { file: string | undefined }>();

/** The uploaded file that a row shows. */
function fileIn(row: Row): string | undefined {
  let known = files.get(row);
  if (!known) {
    const { media } = row.columns;
    known = { file: typeof media === "string" ? (JSON.parse(media) as { fileId?: string }).fileId : undefined };
    files.set(row, known);
  }
  return known.file;
}

function entriesOf(chat: SimulatedObject): ReadonlyMap<string, Entry> {
  const query =
    "select id, meta ->> '$.state' as state, meta ->> '$.messageId' as messageId, delete_at as deleteAt from files";
  const rows = chat.storage.read<Entry & { id: string }>("files", query);
  return new Map(rows.map(({ id, ...entry }) => [id, entry]));
}
