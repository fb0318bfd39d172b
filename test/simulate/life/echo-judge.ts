import type { EchoDraft } from "../../../src/model/chat-answers.ts";
import type { ShownMessage } from "../../../src/model/message.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { type Book, INBOUND, networkIdsOf, type Row, timeOf } from "./book.ts";
import type { LifeWorld } from "./rules.ts";

/** The longest that an echo waits for the outcome of an attempt. */
const MAX_HELD_MS = 90_000;

/** What a row stores of its message's delivery. */
interface Delivery {
  startedAt: number | null;
  calls?: { lost?: number[] };
}

/** Judges what the company writes elsewhere. */
export class EchoJudge {
  readonly #world: LifeWorld;

  constructor(world: LifeWorld) {
    this.#world = world;
  }

  /** A chat's object has committed, and its messages were compared. */
  committed(chat: SimulatedObject, book: Book): void {
    const query = "select network_id as id, held_at as at from held";
    const rows = chat.storage.read<{ id: string; at: number }>("held", query);
    book.held = new Map(rows.map(({ id, at }) => [id, at]));
  }

  /** The network is told that the chat has it. */
  answered(book: Book, { dedupe }: EchoDraft, outcome: string): void {
    const world = this.#world;
    world.count(`echo: ${outcome}`);
    if (outcome === "chat_full") return;
    book.acknowledged.add(dedupe);
    const isStored = outcome !== "stored" || book.placed.has(dedupe);
    world.check("elsewhere", isStored, () => `${dedupe} was acknowledged as stored, and has no place`);
  }

  /** Such a message has taken its place. */
  appeared(chat: SimulatedObject, book: Book, { message, columns }: Row): void {
    const world = this.#world;
    const dedupe = String(columns.dedupe).slice(INBOUND.length);
    const others = book.in("messages").filter((row) => networkIdsOf(row).includes(dedupe));
    world.check("elsewhere", others.length === 1, () => `${dedupe} is stored ${others.length} times`);
    book.placed.add(dedupe);
    const heldAt = book.held.get(dedupe);
    const mustWait = isOutcomeOpen(book.queued()[0], timeOf(message.createdAt) ?? 0);
    const hasWaited = heldAt !== undefined && Math.abs(chat.now - heldAt) >= MAX_HELD_MS;
    const isInTime = !mustWait || hasWaited;
    world.check("held", isInTime, () => `${dedupe} took its place while the outcome of an attempt was open`);
    if (heldAt !== undefined) world.count(hasWaited ? "an echo waited for 90 seconds" : "an echo was held");
  }

  /** Faults have stopped, and all messages have ended. */
  ended(chat: SimulatedObject, book: Book): void {
    const world = this.#world;
    for (const dedupe of book.acknowledged) {
      // The chat's own messages are known by their ids, or take a place if it never learned them.
      const isThere = book.placed.has(dedupe) || dedupe.startsWith("network-");
      world.check("elsewhere", isThere, () => `${dedupe} was acknowledged and is not in ${chat.name}`);
    }
  }
}

/** Whether a message may be at its network under an id that the chat does not know. @param before when it began */
function isOutcomeOpen(head: Row | undefined, before: number): boolean {
  if (!head) return false;
  const { startedAt, calls } = JSON.parse(head.columns.delivery as string) as Delivery;
  const isOpen = startedAt !== null && startedAt < before;
  return isOpen || (calls?.lost?.some((count) => count > 0) ?? false);
}

/** Since when the contact waits after these messages, the first of which follows one of the chat's own; null for none. */
export function waitsSince(messages: readonly ShownMessage[]): number | null {
  let waiting: { at: number; wroteAt: number }[] = [];
  for (const { direction, origin, standby, createdAt, networkTime = createdAt } of messages) {
    const at = Date.parse(createdAt);
    if (origin !== undefined) waiting = waiting.filter(({ wroteAt }) => wroteAt > Date.parse(networkTime));
    else if (direction === "INBOUND" && !standby) waiting.push({ at, wroteAt: Math.min(at, Date.parse(networkTime)) });
  }
  return waiting[0]?.at ?? null;
}
