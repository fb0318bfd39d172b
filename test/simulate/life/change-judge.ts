import type { MessageChange } from "../../../src/model/chat-answers.ts";
import type { EventType } from "../../../src/model/event.ts";
import { seqOf } from "../../../src/model/id.ts";
import type { Reaction, ShownMessage } from "../../../src/model/message.ts";
import type { ChatReport } from "../../../src/model/organization.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { type Book, networkIdsOf, type Row, timeOf } from "./book.ts";
import { isBlank } from "./content-judge.ts";
import { waitsSince } from "./echo-judge.ts";
import { HandoverJudge } from "./handover-judge.ts";
import type { LifeWorld } from "./rules.ts";
import { wordsIn } from "./sayings.ts";

type Edit = Extract<MessageChange, { change: "edit" }>;
type ContactsReaction = Extract<MessageChange, { change: "reaction" }>;
type Side = Reaction["by"];

const SIDES: readonly Side[] = ["contact", "organization"];

/** Judges what happens to messages that are stored: edits, deletions and reactions, late, doubled and in any order. */
export class ChangeJudge {
  readonly #world: LifeWorld;
  readonly #handovers: HandoverJudge;

  constructor(world: LifeWorld) {
    this.#world = world;
    this.#handovers = new HandoverJudge(world);
  }

  /** A network tells a chat of a change. */
  arrived(book: Book, change: MessageChange): void {
    book.heard.push(change);
  }

  /** The network is told that a change was applied, or that there is nothing to change. */
  answered(book: Book, change: MessageChange, outcome: string): void {
    this.#world.count(`${change.change}: ${outcome}`);
    if (change.change === "reaction_failed") {
      this.#failed(book, change);
      return;
    }
    const row = book.in("messages").find((each) => networkIdsOf(each).includes(change.networkId));
    if (outcome === "no_message") this.#checkDropped(change, row);
    if (!row || outcome !== "ok") return;
    if (change.change === "deletion") {
      this.#world.check("blank", isBlank(row), () => `${row.message.id} was deleted and is not blank`);
      book.redacted.add(row.message.id);
    } else if (!isBlank(row)) {
      if (change.change === "edit") this.#checkEdited(book, change, row.message);
      else if (change.change === "reaction") this.#checkReacted(book, change, row.message);
    }
  }

  /** A message has another document than before. */
  changed(chat: SimulatedObject, book: Book, old: Row, row: Row): void {
    const [before, after] = [old.message, row.message];
    const { id } = after;
    for (const field of ["redactedAt", "deletedAt"] as const) {
      if (before[field] === after[field]) continue;
      this.#world.check("blank", before[field] === undefined, () => `${id} has another ${field} than before`);
      this.expect(chat, book, "message.redacted", after);
    }
    if (before.deletedAt !== after.deletedAt) {
      this.#world.count("deleted by the contact");
      const isTold = heardOf(book, row).some(({ change }) => change === "deletion");
      this.#world.check("blank", isTold, () => `${id} was deleted by nobody`);
    }
    for (const change of ["edit", "reaction"] as const) this.#heard(book, change, old, row);
    if (isBlank(row)) {
      const isUntouched = after.reactions === undefined && before.editedAt === after.editedAt && after.text === "";
      this.#world.check("blank", isUntouched, () => `${id} is blank and changed`);
      return;
    }
    if (before.content !== after.content || before.text !== after.text || before.editedAt !== after.editedAt) {
      this.#edited(chat, book, before, row);
    }
    for (const side of SIDES) this.#reacted(chat, book, side, [before, row]);
  }

  /** What a network told changed nothing, but what is older changes nothing either, even if no answer came. */
  #heard(book: Book, change: "edit" | "reaction", old: Row, row: Row): void {
    const column = `${change}_heard_at`;
    const at = row.columns[column];
    if (typeof at !== "number" || at === old.columns[column]) return;
    const { id } = row.message;
    const isTold = book.isWeb || heardOf(book, row).some((each) => each.change === change && each.at === at);
    this.#world.check(change === "edit" ? "edited" : "reacted", isTold, () => `${id} heard the ${change} of ${at}`);
    book.upTo(change === "edit" ? `edit ${id}` : `contact ${id}`, at);
  }

  /** A message has changed, which one event tells. Those of messages without a place name their ids. */
  expect(chat: SimulatedObject, book: Book, type: EventType, message: ShownMessage): void {
    if (message.seq === null) return;
    const query = "select count(*) as told from events where type = ? and seq = ?";
    const [{ told } = { told: 0 }] = chat.storage.read<{ told: number }>("events", query, type, message.seq);
    const isTold = book.expect(type, message, told);
    this.#world.check("events", isTold, () => `${message.id} has changed, and has ${told} events ${type}`);
  }

  /** A chat tells its organization what its list of chats shows. */
  reported(book: Book | undefined, report: ChatReport): void {
    const { lastMessageAt, lastMessage, unansweredSince, handovers = 0, work } = report;
    const stored = book?.in("messages") ?? [];
    // More messages may be stored in the same commit after the report was made.
    const rows = stored.slice(0, stored.findIndex(({ message }) => message.id === lastMessage?.id) + 1);
    const newest = rows.at(-1);
    if (!book || !newest) return;
    book.listed = lastMessage;
    const isRight = lastMessageAt === timeOf(newest.message.createdAt);
    this.#world.check("activity", isRight, () => `the last message is of ${lastMessageAt}`);
    const isShown = lastMessage?.text === newest.message.text;
    this.#world.check("activity", isShown, () => `the chat shows "${lastMessage?.text}" of ${lastMessage?.id}`);
    const isOwn = ({ message, columns }: Row) =>
      message.direction === "OUTBOUND" && message.origin === undefined && columns.answers_nothing !== 1;
    const answered = rows.findLastIndex(isOwn);
    if (answered < 0 && book.floor > 0) return;
    // It may have changed hands, or been opened or closed, after the report was made.
    if (handovers !== (book.hands?.count ?? 0) || work?.state !== book.work.state) return;
    const later = rows
      .slice(answered + 1)
      .filter(({ message, columns }) => columns.answers_nothing !== 1 && (message.seq ?? 0) > (book.closedAfter ?? 0));
    const messages = later.map(({ message }) => message);
    const answeredSeq = rows[answered]?.message.seq ?? 0;
    const since = this.#handovers.waitsSince(book, handovers, answeredSeq, messages) ?? waitsSince(messages);
    const isSince = unansweredSince === since;
    this.#world.check("activity", isSince, () => `the contact waits since ${unansweredSince}, and not since ${since}`);
  }

  /** A change of a message that can't change is dropped, and one that adds something in a chat that is full. */
  #checkDropped({ change, networkId }: Exclude<MessageChange, { messageId: string }>, row: Row | undefined): void {
    const isRight = !row || isBlank(row) || this.#world.counts.has("chat full") || ofOther(change, row);
    this.#world.check("refused", isRight, () => `a ${change} of ${networkId} was dropped, which is ${row?.message.id}`);
  }

  #edited(chat: SimulatedObject, book: Book, before: ShownMessage, row: Row): void {
    const { id, content, text, editedAt } = row.message;
    const at = timeOf(editedAt);
    const isMade = heardOf(book, row).some(
      (each) => each.change === "edit" && each.content === content && each.at === at,
    );
    this.#world.check(
      "edited",
      isMade && text === content,
      () => `${id} says "${text}" since ${editedAt}, which nobody wrote`,
    );
    const last = Math.max(timeOf(before.editedAt) ?? 0, book.changedAt.get(`edit ${id}`) ?? 0);
    const isLater = (at ?? 0) >= last;
    this.#world.check("edited", isLater, () => `${id} was edited at ${last} and has the edit of ${at}`);
    this.#world.check("edited", before.content !== content, () => `${id} was edited and says the same`);
    book.words.set(id, [...(book.words.get(id) ?? []), ...wordsIn(content)]);
    this.expect(chat, book, "message.edited", row.message);
    this.#world.count("edited");
  }

  /** The message says what this edit says, or what a later one does. */
  #checkEdited(book: Book, { content, at }: Edit, message: ShownMessage): void {
    const isLater = Math.max(timeOf(message.editedAt) ?? 0, book.changedAt.get(`edit ${message.id}`) ?? 0) >= at;
    const isRight = message.content === content || isLater;
    this.#world.check(
      "edited",
      isRight,
      () => `${message.id} says "${message.content}" after it was edited to "${content}"`,
    );
    if (message.content !== content) this.#world.count("a late edit");
    book.upTo(`edit ${message.id}`, at);
  }

  #reacted(chat: SimulatedObject, book: Book, side: Side, [before, row]: [ShownMessage, Row]): void {
    const { id, seq, reactions = [] } = row.message;
    const of = ({ reactions: all = [] }: Pick<ShownMessage, "reactions">) => all.filter(({ by }) => by === side);
    const [old] = of(before);
    const [now, ...others] = of({ reactions });
    this.#world.check("reacted", others.length === 0, () => `${id} has several reactions of the ${side}`);
    if (JSON.stringify(old) === JSON.stringify(now)) return;
    this.expect(chat, book, "message.reaction", row.message);
    const [event] = chat.storage.read<{ note: string }>(
      "events",
      "select note from events where type = 'message.reaction' and seq = ? order by n desc limit 1",
      seq,
    );
    const { by, at, ...rest } = JSON.parse(event?.note ?? "{}") as { by?: string; at?: number };
    const isBare = by === side && at !== undefined && Object.keys(rest).length === 0;
    this.#world.check("events", isBare, () => `the event of a reaction of the ${side} is ${event?.note}`);
    const key = `${side} ${id}`;
    const last = book.changedAt.get(key) ?? 0;
    // The company's reactions and a page's come one after the other, by the chat's own clock, which may be set back.
    const isLater = side === "organization" || book.isWeb || (at ?? 0) >= last;
    this.#world.check("reacted", isLater, () => `${id} has the reaction of ${at} after that of ${last}`);
    book.upTo(key, at ?? 0);
    this.#world.count(now ? `reaction of the ${side}` : `no reaction of the ${side}`);
    if (now) this.#world.check("reacted", timeOf(now.at) === at, () => `${id} has a reaction of ${now.at}, not ${at}`);
    if (side === "contact") this.#checkMade(book, row, now, at ?? 0);
    else this.#checkActed(book, row.message.id, [old, now], at ?? 0);
  }

  /** A network told of the contact's reaction. A page's is told by its own frames. */
  #checkMade(book: Book, row: Row, now: Reaction | undefined, at: number): void {
    const emoji = now?.emoji ?? null;
    const isSame = (each: MessageChange) => each.change === "reaction" && each.emoji === emoji && each.at === at;
    const isMade = book.isWeb || heardOf(book, row).some(isSame);
    this.#world.check("reacted", isMade, () => `${row.message.id} has the reaction ${emoji}, which nobody made`);
  }

  /** A client's call is answered. */
  acted(book: Book, method: string, given: unknown[], { outcome, doc = "" }: { outcome: string; doc?: string }): void {
    const [, messageId, emoji] = given as [unknown, string, string | null];
    this.#world.count(`${method}: ${outcome}`);
    if (method !== "react" || outcome !== "ok") return;
    const { reactions } = JSON.parse(doc) as ShownMessage;
    const stored = reactions?.find(({ by }) => by === "organization")?.emoji ?? null;
    this.#world.check("acted", stored === emoji, () => `${messageId} has the reaction ${stored} after it got ${emoji}`);
    const isStored = book.rows.get(messageId)?.columns.doc === doc || book.purged.has(messageId);
    this.#world.check("told", isStored, () => `a reaction to ${messageId} was answered, and is not stored like that`);
  }

  /** How far a client has read only grows, to a message that a client marked. */
  readUpTo(chat: SimulatedObject, book: Book): void {
    const seq = chat.storage.get<number>("readUpTo") ?? 0;
    if (seq === book.readUpTo) return;
    const isOn = seq > book.readUpTo && seq <= book.newest;
    this.#world.check("acted", isOn, () => `a client has read up to ${seq} after ${book.readUpTo}`);
    const isAsked = book.acts.some(
      ({ method, messageId }) =>
        method === "markRead" && (seqOf(messageId) ?? book.rows.get(messageId)?.message.seq) === seq,
    );
    this.#world.check("acted", isAsked, () => `a client has read up to ${seq}, which nobody marked`);
    book.readUpTo = seq;
    this.#world.count("read");
  }

  /** The network has shown the company's reaction, or a page's server did. What failed is taken back, and nothing else. */
  #checkActed(book: Book, id: string, [old, now]: [Reaction | undefined, Reaction | undefined], at: number): void {
    const emoji = now?.emoji ?? null;
    const hasFailed = now === undefined && old !== undefined && timeOf(old.at) === at;
    const isAsked = book.acts.some((each) => each.messageId === id && each.emoji === emoji);
    const isShown =
      book.isWeb || book.shown.some((each) => each.messageId === id && each.emoji === emoji && each.at === at);
    const isFailed =
      hasFailed &&
      book.heard.some((each) => each.change === "reaction_failed" && each.messageId === id && each.at === at);
    this.#world.check(
      "acted",
      (isAsked && isShown) || isFailed,
      () => `${id} has the reaction ${emoji}, which was not made`,
    );
    if (isFailed && !isShown) this.#world.count("a reaction failed");
    const isOver = now !== undefined && book.failed.has(`${id} ${at}`);
    this.#world.check("acted", !isOver, () => `${id} has the reaction ${emoji}, which has failed`);
  }

  /** A reaction that failed is not stored, and never will be. */
  #failed(book: Book, { messageId, at }: Extract<MessageChange, { change: "reaction_failed" }>): void {
    const row = book.rows.get(messageId);
    if (row?.table !== "messages" || isBlank(row)) return;
    book.failed.add(`${messageId} ${at}`);
    const isLeft = row.message.reactions?.some(({ by, at: made }) => by === "organization" && timeOf(made) === at);
    this.#world.check("acted", !isLeft, () => `${messageId} has the reaction of ${at}, which has failed`);
  }

  /** The message has this reaction, or a later one. */
  #checkReacted(book: Book, { emoji, at }: ContactsReaction, { id, reactions }: ShownMessage): void {
    const stored = reactions?.find(({ by }) => by === "contact");
    const isLater = (book.changedAt.get(`contact ${id}`) ?? 0) >= at;
    const isRight = (stored?.emoji ?? null) === emoji || isLater;
    this.#world.check("reacted", isRight, () => `${id} has the reaction ${stored?.emoji}, not ${emoji}`);
    if ((stored?.emoji ?? null) !== emoji) this.#world.count("a late reaction");
    book.upTo(`contact ${id}`, at);
  }
}

function heardOf(book: Book, row: Row): MessageChange[] {
  const ids = networkIdsOf(row);
  return book.heard.filter((change) => "networkId" in change && ids.includes(change.networkId));
}

/** What this chat sent is neither edited nor deleted at the network. */
function ofOther(change: MessageChange["change"], { message }: Row): boolean {
  return change !== "reaction" && message.direction === "OUTBOUND" && message.origin === undefined;
}
