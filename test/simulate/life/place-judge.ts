import type { ShownMessage } from "../../../src/model/message.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { type Book, bySoonest, dueAt, type Row, timeOf } from "./book.ts";
import { saidBy } from "./content-judge.ts";
import type { LifeWorld } from "./rules.ts";

/** Checks that scheduled messages take their places unchanged, not before their time, and in their order. */
export class PlaceJudge {
  readonly #world: LifeWorld;

  constructor(world: LifeWorld) {
    this.#world = world;
  }

  /** A scheduled message became one of the chat's messages. @param old its row before */
  promoted(chat: SimulatedObject, old: Row, row: Row): void {
    const world = this.#world;
    const { id } = row.message;
    const isMoved = old.message.scheduledAt !== row.message.scheduledAt;
    world.count(isMoved ? "sent before its time by a client" : "promoted");
    const [one, other] = [frozen(old.message), frozen(row.message)];
    world.check("once", one === other, () => `${id} was ${one} and takes its place as ${other}`);
    const isSame = row.columns.scheduled_id === id && row.columns.dedupe === old.columns.dedupe;
    world.check("once", isSame, () => `${id} lost its id or its key`);
    const isExpired = (timeOf(row.message.expiresAt) ?? Number.POSITIVE_INFINITY) <= chat.now;
    world.check("expiry", !isExpired, () => `${id} takes its place after ${row.message.expiresAt}`);
    this.placed(chat, row);
  }

  /** A message with a time took its place. */
  placed(chat: SimulatedObject, { message }: Row): void {
    const { id, scheduledAt } = message;
    const isDue = (timeOf(scheduledAt) ?? 0) <= chat.now;
    this.#world.check("early", isDue, () => `${id} took its place before ${scheduledAt}`);
  }

  /**
   * Due messages take their places in the order of their times.
   * @param promoted the rows of messages whose time came, as they were before
   */
  checkTurns(book: Book, promoted: Row[]): void {
    const last = promoted.sort(bySoonest).at(-1);
    const [next] = book.soonest();
    if (!last) return;
    const places = promoted.map(({ message }) => book.rows.get(message.id)?.message.seq ?? 0);
    const isSorted = places.every((seq, index) => index === 0 || seq > (places[index - 1] ?? 0));
    this.#world.check("turn", isSorted, () => `due messages took the places ${places.join()}`);
    const isFirst = !next || bySoonest(last, next) < 0;
    this.#world.check("turn", isFirst, () => `${last.message.id} took its place before ${next?.message.id}`);
  }

  /** A plain message takes no place while a due message waits for one. */
  checkOvertaken({ now }: SimulatedObject, book: Book, { id, createdAt }: ShownMessage): void {
    const [next] = book.soonest();
    const isOvertaken = next !== undefined && dueAt(next) <= Math.min(now, Date.parse(createdAt));
    this.#world.check("turn", !isOvertaken, () => `${id} took its place before ${next?.message.id}, which was due`);
  }
}

/** What stays when a message takes its place. */
function frozen(message: ShownMessage): string {
  const { id, text, senderId, resendOf } = message;
  return JSON.stringify([id, text, senderId, resendOf, saidBy(message)]);
}
