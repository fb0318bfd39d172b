import type {
  Draft,
  EchoDraft,
  InboundDraft,
  MessageChange,
  MoveBody,
  ResendRequest,
  SendAnswer,
} from "../../../src/model/chat-answers.ts";
import type { ShownMessage } from "../../../src/model/message.ts";
import { fromText } from "../../../src/platform/answer-text.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { Book, Row } from "./book.ts";
import { ChangeJudge } from "./change-judge.ts";
import type { ContentJudge } from "./content-judge.ts";
import { EchoJudge } from "./echo-judge.ts";
import type { FileJudge } from "./file-judge.ts";
import type { LifeJudge } from "./judge.ts";
import { MAX_QUEUED, MAX_SCHEDULED } from "./load-service.ts";
import { PageJudge } from "./pages.ts";
import type { LifeWorld } from "./rules.ts";

const ACTS = ["react", "markRead", "showTyping"];

type Answer = { outcome: string; doc?: string; code?: string; version?: string } & {
  body?: string | Uint8Array;
  lines?: Uint8Array;
};

/** Compares what callers of a chat are told with what the chat stores. */
export class AnswerJudge {
  readonly #world: LifeWorld;
  readonly #judge: LifeJudge;
  readonly #content: ContentJudge;
  readonly #changes: ChangeJudge;
  readonly #echoes: EchoJudge;
  readonly #pages: PageJudge;
  readonly #files: FileJudge;

  constructor(world: LifeWorld, judge: LifeJudge, content: ContentJudge, files: FileJudge) {
    this.#files = files;
    this.#content = content;
    this.#changes = new ChangeJudge(world);
    this.#echoes = new EchoJudge(world);
    this.#world = world;
    this.#judge = judge;
    this.#pages = new PageJudge(world);
  }

  /** A call has arrived. @returns what to do with its answer when it leaves, after its writes are committed */
  called(chat: SimulatedObject, method: string, given: unknown[]): ((value: unknown) => void) | undefined {
    const asked = this.#judge.book(chat);
    if ((method === "react" || method === "markRead") && asked) {
      asked.acts.push({ method, messageId: given[1] as string, emoji: given[2] as string | null });
    }
    if (method === "change" && asked) this.#changes.arrived(asked, given[1] as MessageChange);
    const labeled = method === "label" ? this.#judge.labels.called(chat, given) : null;
    const hadSoon = asked ? asked.hasSoon(chat.now) || asked.holds : false;
    const hadFiles = asked && this.#files.entries(chat, asked);
    return (answered) => {
      const value = fromText(answered);
      labeled?.end();
      const book = this.#judge.book(chat);
      // The chat may have been deleted since the call arrived.
      if (!book || (asked && asked !== book)) return;
      if (method === "send") {
        const isSoon = hadSoon || book.hasSoon(chat.now) || book.holds;
        if (!Array.isArray(value)) return;
        const [drafts, answers] = [given[1] as Draft[], value as SendAnswer[]];
        this.#sentAll(book, drafts, answers, isSoon);
        if (hadFiles) this.#files.answered(chat, book, hadFiles, { drafts, answers });
        return;
      }
      const answer = value as Answer | undefined;
      if (!answer || answer.outcome === "unknown") return;
      if (method === "change") {
        this.#changes.answered(book, given[1] as MessageChange, answer.outcome);
        this.#judge.checkBlank(book);
      } else if (labeled) labeled.judge(book, answer);
      else if (ACTS.includes(method)) this.#changes.acted(book, method, given, answer);
      else if (method === "resend") this.#resent(book, given[1] as ResendRequest, answer);
      else if (method === "echo") this.#echoes.answered(book, given[1] as EchoDraft, answer.outcome);
      else if (method === "receive") this.#received(book, given[1] as InboundDraft, answer);
      else if (method === "exportPage") this.#exported(book, answer);
      else if (method === "list") this.#pages.answered(book, given, answer);
      else if (method === "listScheduled") this.#listed(book, given[1] as number, given[2], answer);
      else this.#answered(chat, book, method, given, answer);
    };
  }

  #answered(chat: SimulatedObject, book: Book, method: string, given: unknown[], answer: Answer): void {
    const id = given[1] as string;
    const row = book.rows.get(id);
    // Retention deleted it before the answer left.
    if (!row && book.purged.has(id)) return;
    if (["move", "cancel", "redact", "get"].includes(method)) this.#world.count(`${method}: ${answer.outcome}`);
    if (method === "get") this.#got(id, row, answer);
    if (method === "move") this.#moved(chat, book, [id, given[2] as MoveBody], answer);
    if (method === "cancel") this.#canceled(book, id, row, answer);
    if (method === "redact" && answer.outcome === "ok") this.#redacted(chat, book, id, row);
  }

  #sentAll(book: Book, drafts: Draft[], answers: SendAnswer[], isSoon: boolean): void {
    // The draft before may have changed what another was refused for.
    const isAlone = drafts.length === 1;
    for (const [n, draft] of drafts.entries()) {
      const answer = answers[n];
      if (answer) this.#sent(book, isAlone ? draft : { ...draft, ifSeq: null }, answer, isSoon);
    }
  }

  #sent(book: Book, draft: Draft, answer: SendAnswer, isSoon: boolean): void {
    const world = this.#world;
    const { idempotencyHash: key, prepared, ifSeq } = draft;
    if (answer.outcome === "refused") {
      if (prepared.outcome === "refused" && prepared.code === answer.code) return;
      const isEmpty = book.floor === book.newest;
      if (answer.code === "validation_failed") this.#content.checkNoQuote(book, draft.extra?.replyTo);
      else if (answer.code === "idempotency_mismatch") this.#mismatched(book, draft);
      else if (answer.code.startsWith("media_")) this.#world.count(`refused: ${answer.code}`);
      else this.#refused(book, answer.code, (ifSeq !== book.newest && !(ifSeq === 0 && isEmpty)) || isSoon);
      return;
    }
    if (ifSeq != null && !answer.replayed) this.#checkCrossed(book, ifSeq, answer.doc);
    const { id, text } = JSON.parse(answer.doc) as ShownMessage;
    const row = this.#stored(book, id, answer.doc);
    if (key === null || book.purged.has(id)) return;
    this.#keyed(book, `key:${key}`, row, id);
    const isOwn = prepared.outcome === "refused" || text === prepared.text || row?.columns.fingerprint === null;
    world.check("key", isOwn, () => `${id} is the message of another request`);
  }

  /** A message with `ifSeq` follows the message that it names, unless all of them are gone. */
  #checkCrossed(book: Book, ifSeq: number, doc: string): void {
    const { id, seq } = JSON.parse(doc) as ShownMessage;
    const isNext = seq === ifSeq + 1 || (ifSeq === 0 && book.floor > 0);
    this.#world.check("crossed", isNext, () => `${id} has the place ${seq}, and was to follow ${ifSeq}`);
  }

  /** What has a key, or a network's id, is the message that came with it first. */
  #keyed(book: Book, key: string, row: Row | undefined, id: string): void {
    const first = book.keys.get(key);
    if (first !== undefined) this.#world.count(`a repeated key: ${row?.message.status}`);
    this.#world.check("key", (first ?? id) === id, () => `${key} returns ${id}, and returned ${first} before`);
    book.keys.set(key, id);
  }

  /** A key was used for another request, whose text is not redacted. */
  #mismatched(book: Book, { idempotencyHash, fingerprint }: Draft): void {
    const first = [...book.rows.values()].find(({ columns }) => columns.dedupe === `key:${idempotencyHash}`);
    const stored = first?.columns.fingerprint ?? null;
    this.#world.count("refused: idempotency_mismatch");
    const isOther = stored !== null && stored !== fingerprint;
    this.#world.check("refused", isOther, () => `${first?.message.id} was stored by the same request`);
  }

  #received(book: Book, draft: InboundDraft, { outcome, doc = "" }: Answer): void {
    if (outcome === "chat_full") {
      this.#refused(book, outcome, false);
      return;
    }
    const { id } = JSON.parse(doc) as ShownMessage;
    const row = this.#stored(book, id, doc);
    if (!book.purged.has(id)) this.#keyed(book, `in:${draft.dedupe}`, row, id);
  }

  #refused(book: Book, code: string, hasMovedOn: boolean): void {
    const reasons: Record<string, boolean> = {
      chat_backlog: book.queued().length + book.justFailed >= MAX_QUEUED,
      schedule_full: book.in("scheduled").length >= MAX_SCHEDULED,
      chat_moved_on: hasMovedOn,
      chat_full: this.#world.counts.has("chat full"),
      handed_over: book.handler === "people",
    };
    this.#world.count(`refused: ${code}`);
    this.#world.check("refused", reasons[code] ?? false, () => `a message was refused with ${code}`);
  }

  #resent(book: Book, { messageId, sender }: ResendRequest, answer: Answer): void {
    const world = this.#world;
    const original = book.rows.get(messageId);
    const { status } = original?.message ?? { status: "gone" };
    world.count(`resend: ${answer.code ?? answer.outcome}`);
    if (answer.outcome === "refused") {
      if (sender.outcome === "refused" && sender.code === answer.code) return;
      const { code = "" } = answer;
      if (code === "not_failed") world.check("refused", status !== "FAILED", () => `${messageId} is FAILED`);
      else if (code === "redacted")
        world.check("refused", original?.message.text === "", () => `${messageId} is not blank`);
      else if (code === "message_not_found") world.check("refused", !original, () => `${messageId} exists`);
      else this.#refused(book, code, false);
      return;
    }
    const doc = answer.doc ?? "";
    const { id, resendOf } = JSON.parse(doc) as ShownMessage;
    world.check("resent", resendOf === messageId && id !== messageId, () => `${id} does not repeat ${messageId}`);
    this.#stored(book, id, doc);
  }

  #moved(chat: SimulatedObject, book: Book, [id, change]: [string, MoveBody], answer: Answer): void {
    const world = this.#world;
    const { outcome, code = "", doc = "" } = answer;
    const row = book.rows.get(id);
    if (outcome === "no_message") world.check("told", !row, () => `${id} exists`);
    if (outcome === "not_scheduled") world.check("told", row?.table !== "scheduled", () => `${id} is scheduled`);
    if (outcome === "refused" && code !== "validation_failed") this.#refused(book, code, false);
    if (outcome !== "ok") return;
    const { scheduledAt } = change;
    // A message that took its place may have ended since, while the call began its delivery.
    const before = row?.table === "messages" ? book.before.get(id) : undefined;
    const isStored = [row, before].some((each) => each?.columns.doc === doc);
    world.check("told", isStored, () => `${id} was moved, and another state of it is stored`);
    if (typeof scheduledAt !== "number") return;
    const shown = JSON.parse(doc) as ShownMessage;
    const isMoved = Date.parse(shown.scheduledAt ?? "") === scheduledAt;
    world.check("told", isMoved, () => `${id} was moved to another time`);
    // A repeated call is told of the message that took its place since.
    if (scheduledAt <= chat.now || row?.table === "messages") return;
    world.check("told", row?.columns.due_at === scheduledAt, () => `${id} was moved, and keeps its old time`);
  }

  #canceled(book: Book, id: string, row: Row | undefined, { outcome, doc }: Answer): void {
    const world = this.#world;
    const status = row?.message.status ?? "gone";
    if (outcome === "no_message") world.check("told", !row, () => `${id} exists`);
    if (outcome === "ok") {
      const isCanceled = status === "CANCELED" && row?.columns.doc === doc;
      world.check("told", isCanceled, () => `${id} is ${status} after its cancellation was answered`);
    }
    if (outcome !== "not_cancelable") return;
    world.check("told", status !== "SCHEDULED" && status !== "CANCELED", () => `${id} is ${status} and not cancelable`);
    if (status !== "QUEUED" || book.onWire.has(id)) return;
    // An attempt that was lost with its instance may have been made.
    const { attempts } = JSON.parse(row?.columns.delivery as string) as { attempts: number };
    world.check("refused", attempts > 0, () => `${id} is not cancelable, and no attempt of it began`);
  }

  #redacted(chat: SimulatedObject, book: Book, id: string, row: Row | undefined): void {
    this.#files.redacted(chat, book, id);
    this.#world.check("told", row?.message.text === "", () => `${id} is not blank after its redaction was answered`);
    this.#world.check("told", row?.message.status !== "SCHEDULED", () => `${id} is blank and still scheduled`);
    if (row) book.redacted.add(id);
    this.#judge.checkBlank(book);
  }

  #got(id: string, row: Row | undefined, { outcome, doc }: Answer): void {
    const isShown = outcome === "ok" ? row?.columns.doc === doc : !row;
    this.#world.check("read", isShown, () => `a read of ${id} shows ${doc ?? outcome}`);
  }

  #listed(book: Book, limit: number, after: unknown, { body }: Answer): void {
    if (after !== null) return;
    const expected = book.soonest().slice(0, limit);
    const list = `{"messages":[${expected.map(({ columns }) => columns.doc).join()}],`;
    const isShown = typeof body === "string" && body.startsWith(list);
    this.#world.check("read", isShown, () => `the list of scheduled messages is ${String(body)}, and not ${list}`);
  }

  #exported(book: Book, { lines }: Answer): void {
    const id = ({ message }: Row) => message.id;
    const unplaced = [...book.in("scheduled"), ...book.in("unplaced")].sort((a, b) => (id(a) < id(b) ? -1 : 1));
    const line = (type: string) => (row: Row) => `{"type":"${type}","message":${row.columns.doc}}\n`;
    const right = [...unplaced.map(line("scheduled")), ...book.in("messages").map(line("message"))].join("");
    const shown = new TextDecoder().decode(lines);
    this.#world.check("read", shown === right, () => `the export is ${shown}, and not ${right}`);
  }

  /** A message that a client was told of is stored as it was shown. */
  #stored(book: Book, id: string, doc: string): Row | undefined {
    const row = book.rows.get(id);
    const isStored = row?.columns.doc === doc || row?.message.error?.code === "expired" || book.purged.has(id);
    this.#world.check("told", isStored, () => `${id} was acknowledged, and is not stored like that`);
    return row;
  }
}
