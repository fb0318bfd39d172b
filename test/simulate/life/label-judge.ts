import type { ChatReport } from "../../../src/model/organization.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { Book, EventRow } from "./book.ts";
import { MAX_LABELS } from "./load-service.ts";
import type { LifeWorld } from "./rules.ts";

export const LABELS = ["lbl_one", "lbl_two", "lbl_three", "lbl_four"] as const;

/** A call that gives a chat a label, or takes it off. */
interface LabelCall {
  labelId: string;
  isGiven: boolean;
  /** Whether the organization had the label when the call arrived. */
  existed: boolean;
  /** How many labels the organization had lost until then. */
  deletions: number;
  /** How many instances of the chat's object were lost until then. */
  losses: number;
  /** Another call about labels, or about this one, was under way meanwhile. */
  isCrossed: boolean;
  isLabelCrossed: boolean;
}

interface Answer {
  outcome: string;
  code?: string;
}

/** Judges which labels chats have. */
export class LabelJudge {
  /** The labels of the organization. A deleted one never comes back. */
  readonly existing = new Set<string>(LABELS);
  readonly #world: LifeWorld;
  #deletions = 0;
  /** The calls under way to each chat, by its id: the first of them may bring its identity along. */
  readonly #open = new Map<string, Set<LabelCall>>();
  /** What ends each of them, by what it was given. */
  readonly #ends = new WeakMap<unknown[], () => void>();
  /** What chats told the organization last, by the chat's id. */
  readonly #reported = new Map<string, { number: number; life: number; labels: readonly string[] }>();

  constructor(world: LifeWorld) {
    this.#world = world;
  }

  /** The organization deletes a label. */
  deleteLabel(labelId: string): void {
    if (this.existing.delete(labelId)) this.#deletions++;
  }

  /** A call has arrived. @returns what to do when it is answered, and with its answer */
  called(chat: SimulatedObject, given: unknown[]): { end(): void; judge(book: Book, answer: Answer): void } {
    const [labelId, isGiven] = given.slice(1) as [string, boolean];
    const open = this.#openOf(chat);
    const call: LabelCall = {
      ...{ labelId, isGiven, existed: this.existing.has(labelId), deletions: this.#deletions, losses: chat.losses },
      isCrossed: open.size > 0,
      isLabelCrossed: [...open].some((other) => other.labelId === labelId),
    };
    for (const other of open) {
      other.isCrossed = true;
      other.isLabelCrossed ||= other.labelId === labelId;
    }
    open.add(call);
    const end = () => void open.delete(call);
    this.#ends.set(given, end);
    return { end, judge: (book, answer) => this.#answered(book, call, answer) };
  }

  /** A call has ended with an error. */
  failed(given: unknown[]): void {
    this.#ends.get(given)?.();
  }

  /** A chat's object has committed. @param events those of the commit */
  committed(chat: SimulatedObject, book: Book, events: readonly EventRow[]): void {
    this.#compare(chat, book, events);
    // What a lost instance had under way can't change anything from now on.
    const open = this.#openOf(chat);
    for (const call of open) if (call.losses < chat.losses) open.delete(call);
  }

  #compare(chat: SimulatedObject, book: Book, events: readonly EventRow[]): void {
    const world = this.#world;
    const labels = chat.storage.get<string[]>("labels") ?? [];
    const before = book.labels;
    if (labels.join() === before.join()) return;
    book.labels = labels;
    const calls = [...this.#openOf(chat)];
    const isAsked = (labelId: string, isGiven: boolean) =>
      calls.some((call) => call.labelId === labelId && call.isGiven === isGiven && call.existed);
    const added = labels.filter((id) => !before.includes(id));
    const removed = before.filter((id) => !labels.includes(id));
    const shown = () => `${chat.name} had ${before.join()}, and has ${labels.join()}`;
    for (const id of added) world.check("labeled", isAsked(id, true), () => `${shown()}: nobody gave it ${id}`);
    for (const id of removed) {
      const hasCause = isAsked(id, false) || !this.existing.has(id);
      world.check("labeled", hasCause, () => `${shown()}: nobody took ${id} off`);
      world.count(this.existing.has(id) ? "a label is taken off" : "a label that is gone is taken off");
    }
    if (added.length > 0) world.count("a label is given");
    const isOrdered =
      before.filter((id) => labels.includes(id)).join() === labels.filter((id) => before.includes(id)).join();
    world.check("labeled", isOrdered && new Set(labels).size === labels.length, shown);
    world.check("labeled", labels.length <= MAX_LABELS, shown);
    const isTold = events.some(({ type }) => type === "chat.updated");
    world.check("labeled", isTold, () => `${shown()}, which no event tells`);
  }

  /** A chat tells its organization in which lists it is. */
  reported({ chatId, life, number, labels = [] }: ChatReport): void {
    const known = this.#reported.get(chatId);
    if (known && known.life === life && known.number > number) return;
    this.#reported.set(chatId, { number, life, labels });
  }

  /** Faults have stopped, and all that waits has ended. */
  ended(chat: SimulatedObject, book: Book): void {
    const known = this.#reported.get(chat.name);
    const labels = known?.life === book.life ? known.labels : [];
    const isKnown = labels.join() === book.labels.join();
    const text = () => `${chat.name} has ${book.labels.join()}, and its organization knows ${labels.join()}`;
    this.#world.check("labeled", isKnown, text);
  }

  #openOf({ name }: SimulatedObject): Set<LabelCall> {
    const open = this.#open.get(name) ?? new Set();
    this.#open.set(name, open);
    return open;
  }

  #answered(book: Book, call: LabelCall, { outcome, code }: Answer): void {
    const world = this.#world;
    const { labelId, isGiven } = call;
    const isThere = this.existing.has(labelId);
    world.count(`label: ${code ?? outcome}`);
    if (outcome === "ok" && !call.isLabelCrossed && isThere) {
      const isRight = book.labels.includes(labelId) === isGiven;
      world.check("labeled", isRight, () => `a chat that was to have ${labelId}: ${isGiven} has ${book.labels.join()}`);
    }
    if (code === "label_not_found") world.check("labeled", !isThere, () => `${labelId} is not found`);
    if (code === "label_limit" && !call.isCrossed && call.deletions === this.#deletions) {
      const isFull = book.labels.filter((id) => this.existing.has(id)).length >= MAX_LABELS;
      world.check("labeled", isFull, () => `there is no room for ${labelId} beside ${book.labels.join()}`);
    }
  }
}
