import type { ShownMessage } from "../../../src/model/message.ts";
import type { NetworkAct } from "../../../src/model/network.ts";
import type { ChatReport } from "../../../src/model/organization.ts";
import type { RenderedPart } from "../objects/globals.ts";
import { storedIdentity } from "../objects/identity.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { Book, dueAt, type Row, timeOf } from "./book.ts";
import { ChangeJudge } from "./change-judge.ts";
import { type ContentJudge, isBlank } from "./content-judge.ts";
import { EchoJudge } from "./echo-judge.ts";
import type { FileJudge } from "./file-judge.ts";
import { HandoverJudge } from "./handover-judge.ts";
import { LabelJudge } from "./label-judge.ts";
import { PlaceJudge } from "./place-judge.ts";
import type { ChannelRetention } from "./retention.ts";
import type { LifeWorld } from "./rules.ts";
import { WorkJudge } from "./work-judge.ts";

const KEPT_MS = 30 * 86_400_000;
/** A due message waits this long for room in the queue. */
const BACKLOG_MS = 86_400_000;
/** After a fault, and while the queue is full, due messages rest for at most this long. */
const REST_MS = 61_000;
/** A chat finds out within this time that its instance was lost, and one more time for each loss. */
const MAX_DELAY_MS = 900_000;

const SHOWN = ["SENT", "DELIVERED", "READ"];

const isOver = ({ status }: ShownMessage) => status !== "SCHEDULED" && status !== "QUEUED";

/** Checks each commit of a chat and each message on the network. */
export class LifeJudge {
  readonly #world: LifeWorld;
  readonly #retention: ChannelRetention;
  readonly #content: ContentJudge;
  readonly #changes: ChangeJudge;
  readonly #echoes: EchoJudge;
  readonly #handovers: HandoverJudge;
  readonly #work: WorkJudge;
  readonly labels: LabelJudge;
  readonly #files: FileJudge;
  readonly #places: PlaceJudge;
  /** The contents of the parts of each chat's latest attempt. */
  readonly #begun = new Map<string, readonly unknown[]>();
  readonly #books = new Map<string, Book>();

  constructor(world: LifeWorld, retention: ChannelRetention, content: ContentJudge, files: FileJudge) {
    this.#files = files;
    this.#world = world;
    this.#retention = retention;
    this.#content = content;
    this.#handovers = new HandoverJudge(world);
    this.#work = new WorkJudge(world);
    this.labels = new LabelJudge(world);
    this.#changes = new ChangeJudge(world);
    this.#echoes = new EchoJudge(world);
    this.#places = new PlaceJudge(world);
  }

  /** What a chat stores; undefined if its object holds no chat. */
  book({ name }: SimulatedObject): Book | undefined {
    return this.#books.get(name);
  }

  /** A chat's object has committed. */
  committed(chat: SimulatedObject): void {
    const identity = storedIdentity(chat);
    if (!identity) return void this.#books.delete(chat.name);
    const { life, channelKind } = identity;
    const known = this.#books.get(chat.name);
    const book = known?.life === life ? known : new Book(life, channelKind === "web");
    this.#books.set(chat.name, book);
    const [waiting] = book.soonest();
    const hasWaited = waiting && dueAt(waiting) <= book.latest;
    book.latest = Math.max(book.latest, chat.now);
    // Even if it ends or moves in this commit: the others rest because of it.
    if (hasWaited) book.restsUntil = book.latest + REST_MS;
    book.justFailed = 0;
    const before = book.rows;
    book.before = before;
    const rows = book.read(chat.storage);
    book.rows = new Map(rows.map((row) => [row.message.id, row]));
    const ids = rows.map(({ message }) => message.id).join();
    this.#world.check("once", book.rows.size === rows.length, () => `two rows have the same id: ${ids}`);
    this.#checkNumbers(chat, book, rows);
    this.#changes.readUpTo(chat, book);
    for (const [id, row] of before) if (!book.rows.has(id)) this.#removed(book, id, row);
    const promoted: Row[] = [];
    for (const [id, row] of book.rows) {
      const old = before.get(id);
      if (old === row) continue;
      if (old) this.#changed(chat, book, old, row);
      else this.#appeared(chat, book, row);
      const isPromoted = old?.table === "scheduled" && row.table === "messages";
      if (isPromoted && old.message.scheduledAt === row.message.scheduledAt) promoted.push(old);
    }
    this.#echoes.committed(chat, book);
    const events = book.newEvents(chat.storage);
    this.#handovers.committed(chat, book, events);
    this.#work.committed(chat, book, events);
    this.labels.committed(chat, book, events);
    this.#places.checkTurns(book, promoted);
    this.#files.committed(chat, book);
    this.#trackHead(chat, book);
    this.checkBlank(book);
    this.checkAlarm(chat);
  }

  /** Faults have stopped, and all messages have ended. */
  ended(chat: SimulatedObject): void {
    const book = this.#books.get(chat.name);
    if (!book) return;
    this.#echoes.ended(chat, book);
    this.#handovers.ended(chat, book);
    this.#work.ended(chat, book);
    this.labels.ended(chat, book);
  }

  /** A chat tells its organization what its list of chats shows. */
  reported(report: ChatReport): void {
    const book = this.#books.get(report.chatId);
    if (book) this.#work.reported(book, report);
    this.labels.reported(report);
    this.#changes.reported(book, report);
  }

  /** A network has shown what a client does. */
  shown(chat: SimulatedObject, act: NetworkAct): void {
    if (act.act === "react") this.#books.get(chat.name)?.shown.push(act);
  }

  /** A message whose redaction was answered is blank, and stays it. */
  checkBlank({ redacted, rows, listed }: Book): void {
    const isListed = listed !== null && listed.text !== "" && redacted.has(listed.id);
    this.#world.check("blank", !isListed, () => `the list of chats shows "${listed?.text}" of ${listed?.id}`);
    for (const id of redacted) {
      const row = rows.get(id);
      this.#world.check("blank", !row || isBlank(row), () => `${id} was redacted and is not blank`);
    }
  }

  /** While a message is scheduled, an alarm is set for it, or under way. */
  checkAlarm(chat: SimulatedObject): void {
    const book = this.#books.get(chat.name);
    const [next] = book?.soonest() ?? [];
    if (!book || !next) return;
    const { alarm } = chat.storage;
    // While a due message rests, so do those that become due.
    if (dueAt(next) <= book.latest) book.restsUntil = book.latest + REST_MS;
    const atLeast = Math.max(dueAt(next), book.restsUntil);
    const latest = chat.isAlarmOpen ? Math.max(atLeast, book.latest) + REST_MS : atLeast;
    const isSet = alarm === null ? chat.isRinging : alarm <= latest;
    const alarmText = () => (alarm === null ? "no alarm is set" : `the alarm is at ${alarm}`);
    this.#world.check("alarm", isSet, () => `${next.message.id} is due at ${dueAt(next)}, and ${alarmText()}`);
  }

  /** A chat's attempt waits, because its channel told it to ask again in `ms`. */
  held(chat: SimulatedObject, ms: number): void {
    const book = this.#books.get(chat.name);
    if (book) book.heldUntil = Math.max(book.heldUntil, this.#world.now + ms);
  }

  /** A call of the network leaves a chat's object. */
  sent(chat: SimulatedObject, id: string, rendered: RenderedPart): void {
    const world = this.#world;
    const book = this.#books.get(chat.name);
    const row = book?.rows.get(id);
    // The parts of an attempt are rendered at once. What happens to the message after the first does not stop the others.
    if (this.#begun.get(chat.name) === rendered.contents) return;
    this.#begun.set(chat.name, rendered.contents);
    const isPlaced = row?.table === "messages";
    world.check("canceled", row?.message.status !== "CANCELED", () => `${id} is sent after it was canceled`);
    world.check("wire", isPlaced, () => `${id} is sent and has no place in ${chat.name}`);
    if (!book || !row) return;
    world.check("wire", row.message.status === "QUEUED", () => `${id} is ${row.message.status} and is sent`);
    world.check("blank", !book.redacted.has(id), () => `${id} is sent after its redaction was answered`);
    const { seq, expiresAt } = row.message;
    const place = seq ?? 0;
    world.check("order", place >= book.lastSent, () => `${place} is sent after ${book.lastSent}`);
    book.lastSent = place;
    const isExpired = (timeOf(expiresAt) ?? Number.POSITIVE_INFINITY) <= chat.now;
    world.check("expiry", !isExpired, () => `${id} is sent at ${new Date(chat.now).toISOString()}, after ${expiresAt}`);
    this.#content.sent(chat, book, row, rendered);
    if (!book.onWire.has(id)) this.#checkDelay(chat, book, id);
    book.onWire.add(id);
    book.mayBeOut.add(id);
  }

  /** A file leaves a chat's object with a message. */
  sentFile(chat: SimulatedObject, id: string, bytes: string): void {
    if (this.#books.get(chat.name)?.rows.has(id)) this.#files.sent(chat, id, bytes);
  }

  /** A chat learns that its call of the network sent nothing. */
  notSent(chat: SimulatedObject, id: string): void {
    this.#books.get(chat.name)?.mayBeOut.delete(id);
  }

  #checkNumbers(chat: SimulatedObject, book: Book, rows: Row[]): void {
    const world = this.#world;
    const floor = chat.storage.get<{ seq: number }>("floor")?.seq ?? 0;
    const placed = rows.filter(({ table }) => table === "messages");
    for (const [index, { columns, message }] of placed.entries()) {
      const seq = floor + index + 1;
      const isNext = columns.seq === seq && message.seq === seq;
      world.check("dense", isNext, () => `${message.id} has the seq ${message.seq}, not ${seq}`);
      const { createdAt = "" } = placed[index - 1]?.message ?? {};
      world.check("times", createdAt <= message.createdAt, () => `${message.id} is older than the one before it`);
    }
    const newest = floor + placed.length;
    const isOn = floor >= book.floor && newest >= book.newest;
    world.check(
      "dense",
      isOn,
      () => `the floor ${book.floor} became ${floor}, and the newest ${book.newest} ${newest}`,
    );
    book.floor = floor;
    book.newest = newest;
  }

  /** A row is gone although its chat is not. */
  #removed(book: Book, id: string, { table, columns, message }: Row): void {
    const world = this.#world;
    if (table === "messages") {
      const endsAt = Date.parse(message.createdAt) + this.#retention.leastMs(world.now);
      world.check("kept", (message.seq ?? 0) <= book.floor && endsAt <= book.latest, () => `${id} is gone`);
      world.check("waiting", message.status !== "QUEUED", () => `${id} is gone and was not sent`);
    } else {
      const kept = Math.min(KEPT_MS, this.#retention.leastMs(world.now));
      const isOld = table === "unplaced" && (columns.ended_at as number) + kept <= book.latest;
      world.check("kept", isOld, () => `${id} is gone from ${table}`);
    }
    world.count(table === "messages" ? "deleted by retention" : "purged");
    book.purged.add(id);
    for (const [key, known] of book.keys) if (known === id) book.keys.delete(key);
  }

  #appeared(chat: SimulatedObject, book: Book, row: Row): void {
    const world = this.#world;
    const { message, table, columns } = row;
    const { id, resendOf, text } = message;
    this.#content.appeared(chat, book, row);
    if (message.reactions) this.#changes.expect(chat, book, "message.reaction", message);
    world.check("once", table !== "unplaced", () => `${id} ended before it was stored`);
    if (table === "messages") {
      world.check("once", columns.scheduled_id === null, () => `${id} was scheduled and took its place at once`);
      this.#places.placed(chat, row);
      if (message.origin !== undefined) this.#echoes.appeared(chat, book, row);
      else if (message.direction === "OUTBOUND") this.#places.checkOvertaken(chat, book, message);
      if (message.status === "FAILED") book.justFailed++;
    } else {
      book.scheduled.add(id);
      world.count("scheduled");
    }
    if (resendOf === undefined) return;
    world.count("resent");
    const original = book.rows.get(resendOf);
    const isFailed = original?.message.status === "FAILED" && original.message.text === text;
    world.check("resent", isFailed, () => `${id} repeats ${resendOf}, which did not fail`);
    const twins = [...book.rows.values()].filter((other) => other.message.resendOf === resendOf);
    world.check("resent", twins.length === 1, () => `${resendOf} was sent again ${twins.length} times`);
  }

  #changed(chat: SimulatedObject, book: Book, old: Row, row: Row): void {
    const world = this.#world;
    const { message } = row;
    const { id, status } = message;
    const isSamePlace = old.message.seq === message.seq || old.table === "scheduled";
    const isForward = old.table === row.table || old.table === "scheduled";
    world.check("once", isSamePlace && isForward, () => `${id} went from ${old.table} to ${row.table}`);
    const was = old.message.status;
    const isForGood = was !== "CANCELED" || status === "CANCELED";
    world.check("canceled", isForGood, () => `${id} is ${status} after it was CANCELED`);
    const isBack = isOver(old.message) ? !isOver(message) : was === "QUEUED" && status === "SCHEDULED";
    const isUnread = SHOWN.indexOf(status) < SHOWN.indexOf(was) && status !== "FAILED";
    world.check("forward", !isBack && !isUnread, () => `${id} is ${status} after it was ${was}`);
    if (was !== "CANCELED" && status === "CANCELED") {
      world.check("canceled", !book.mayBeOut.has(id), () => `${id} is canceled, and may have been sent`);
      world.count(`canceled: ${was}`);
    }
    if (was !== "FAILED" && status === "FAILED") {
      // This network tells of no failure of what it has accepted.
      const mayFail = was === "QUEUED" || was === "SCHEDULED";
      world.check("forward", mayFail, () => `${id} is FAILED after it was ${was}`);
      const code = message.error?.code ?? "";
      book.justFailed++;
      world.count(`failed: ${was}, ${code}`);
      const isExpired = (timeOf(message.expiresAt) ?? Number.POSITIVE_INFINITY) <= chat.now;
      const hasWaited = chat.now - (timeOf(message.scheduledAt) ?? 0) >= BACKLOG_MS;
      world.check("refused", code !== "chat_backlog" || hasWaited, () => `${id} did not wait for room in the queue`);
      world.check("expired", code !== "expired" || isExpired, () => `${id} expired before ${message.expiresAt}`);
    }
    this.#content.changed(book, old, row);
    this.#changes.changed(chat, book, old, row);
    if (old.table !== "scheduled") return;
    if (row.table === "messages") this.#places.promoted(chat, old, row);
    if (row.table === "unplaced") book.ended.add(id);
    if (row.table === "scheduled") world.count("moved");
  }

  #trackHead({ losses, clockChanges }: SimulatedObject, book: Book): void {
    const seq = book.queued()[0]?.message.seq ?? 0;
    if (seq !== book.head.seq) book.head = { seq, since: this.#world.now, losses, clockChanges };
  }

  #checkDelay(chat: SimulatedObject, { head, heldUntil }: Book, id: string): void {
    if (chat.clockChanges !== head.clockChanges) return;
    const waited = this.#world.now - Math.max(head.since, heldUntil);
    const allowed = MAX_DELAY_MS * (1 + chat.losses - head.losses);
    this.#world.check("delay", waited <= allowed, () => `${id} waited ${waited} ms at the head of the queue`);
  }
}
