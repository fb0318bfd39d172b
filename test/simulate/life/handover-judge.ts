import type { ShownMessage } from "../../../src/model/message.ts";
import { storedIdentity } from "../objects/identity.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { type Book, type EventRow, placedAt } from "./book.ts";
import type { LifeWorld } from "./rules.ts";

/** What a chat's object stores of its handovers. */
interface Stored {
  bot: number | null;
  count: number;
  after: number;
  wait?: { waitsSince: number; after: number };
}

/** Judges who has a chat: the bot of its channel, or people. */
export class HandoverJudge {
  readonly #world: LifeWorld;

  constructor(world: LifeWorld) {
    this.#world = world;
  }

  /** A chat's object has committed, and its messages were compared. @param events those of the commit */
  committed(chat: SimulatedObject, book: Book, events: readonly EventRow[]): void {
    const world = this.#world;
    book.handler ??= storedIdentity(chat)?.bot ? "bot" : "people";
    for (const [index, event] of events.entries()) {
      if (event.type === "chat.handover") this.#changesHands(book, event);
      const row = event.type === "message.created" ? placedAt(book, event.seq) : undefined;
      if (!row) continue;
      const { id, origin } = row.message;
      const isRight = row.columns.by_bot !== 1 || book.handler === "bot";
      world.check("handed", isRight, () => `${id} of the bot has a place while people have ${chat.name}`);
      const takesOver = origin === "app" && book.handler === "bot";
      const isTaken = !takesOver || events[index + 1]?.type === "chat.handover";
      world.check("handed", isTaken, () => `${id} was written in the app, and the bot still has ${chat.name}`);
    }
    const stored = chat.storage.get<Stored>("handover");
    if (stored) {
      const is = stored.bot === null ? "people" : "bot";
      world.check("handed", is === book.handler, () => `${chat.name} is stored as that of ${is}, which no event tells`);
      book.hands = { count: stored.count, after: stored.after, wait: stored.wait ?? null };
    }
    const left = book.in("scheduled").find(({ columns }) => columns.by_bot === 1);
    const isEnded = book.handler === "bot" || !left;
    world.check("handed", isEnded, () => `${left?.message.id} of the bot is scheduled while people have ${chat.name}`);
  }

  /** Faults have stopped, and all that waits has ended. */
  ended(chat: SimulatedObject, book: Book): void {
    if (book.handler !== "bot") return;
    const rows = book.in("messages");
    const answered = rows.findLastIndex(({ columns }) => columns.by_bot === 1);
    // Nothing waits in a chat that was closed.
    const after = Math.max(book.hands?.after ?? 0, book.closedAfter ?? 0);
    const waiting = rows
      .slice(answered + 1)
      .find(({ message: { direction, seq, standby } }) => direction === "INBOUND" && !standby && (seq ?? 0) > after);
    this.#world.check("handed", !waiting, () => `the bot does not answer ${waiting?.message.id}, and has ${chat.name}`);
  }

  /**
   * Since when the contact waits for people, because they got the chat; undefined if that decides nothing.
   * @param count how often the chat had changed hands
   * @param answered the seq of the last message that answers
   */
  waitsSince(
    { hands, closedAfter }: Book,
    count: number,
    answered: number,
    messages: readonly ShownMessage[],
  ): number | undefined {
    const wait = hands?.count === count ? hands.wait : null;
    // A handover opens the chat: one that was closed is so since then.
    if (!wait || answered > wait.after || (closedAfter !== null && closedAfter >= wait.after)) return undefined;
    const isEchoed = messages.some(({ origin, seq }) => origin !== undefined && (seq ?? 0) > wait.after);
    return isEchoed ? undefined : wait.waitsSince;
  }

  #changesHands(book: Book, { note }: EventRow): void {
    const { to, reason } = JSON.parse(note ?? "{}") as { to: "bot" | "people"; reason: string };
    const before = book.handler;
    this.#world.count(`handed to ${to}: ${reason}`);
    this.#world.check("handed", before !== to, () => `the chat was handed to ${to}, who had it`);
    book.handler = to;
  }
}
