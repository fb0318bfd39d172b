import type { ChatReport } from "../../../src/model/organization.ts";
import type { WorkStatus } from "../../../src/model/work-state.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { type Book, type EventRow, placedAt } from "./book.ts";
import type { LifeWorld } from "./rules.ts";

/** What a chat's object stores of its work; nothing of a chat that was open all the time. */
type Stored = WorkStatus & { closedAfter?: number };

const OPEN: Stored = { state: "open", snoozedUntil: null };

/** Judges whether the work on a chat is open, put off or done. */
export class WorkJudge {
  readonly #world: LifeWorld;

  constructor(world: LifeWorld) {
    this.#world = world;
  }

  /** A chat's object has committed, and its messages were compared. @param events those of the commit */
  committed(chat: SimulatedObject, book: Book, events: readonly EventRow[]): void {
    const world = this.#world;
    const received = events.flatMap(({ type, seq }) =>
      type === "message.received" ? (placedAt(book, seq)?.message ?? []) : [],
    );
    const isHanded = events.some(({ type }) => type === "chat.handover");
    for (const { type, note } of events) {
      if (type !== "chat.state") continue;
      const told = JSON.parse(note ?? "{}") as { state: WorkStatus["state"]; snoozedUntil: string | null; by: unknown };
      const { state } = told;
      const snoozedUntil = told.snoozedUntil === null ? null : Date.parse(told.snoozedUntil);
      const { work } = book;
      world.count(`${state}: by ${told.by === null ? "the service" : "a client"}`);
      const isNew = state !== work.state || snoozedUntil !== work.snoozedUntil;
      world.check("worked", isNew, () => `${chat.name} became ${state}, and was it`);
      const isOver = work.snoozedUntil !== null && work.snoozedUntil <= book.latest;
      const hasCause = told.by !== null || received.length > 0 || isHanded || isOver;
      world.check("worked", hasCause, () => `${chat.name} was ${work.state}, and nothing made it ${state}`);
      book.work = { state, snoozedUntil };
    }
    const { state, snoozedUntil, closedAfter } = chat.storage.get<Stored>("work") ?? OPEN;
    const isTold = state === book.work.state && snoozedUntil === book.work.snoozedUntil;
    world.check("worked", isTold, () => `${chat.name} is stored as ${state}, which no event tells`);
    book.closedAfter = closedAfter ?? null;
    const wrote = received.find(({ standby }) => !standby);
    world.check("worked", !wrote || state === "open", () => `${wrote?.id} came, and ${chat.name} is ${state}`);
  }

  /** A chat tells its organization in which of its lists it is. */
  reported(book: Book, { work = OPEN, unansweredSince }: ChatReport): void {
    // It may have changed after the report was made.
    if (work.state !== book.work.state || work.snoozedUntil !== book.work.snoozedUntil) return;
    const isDone = work.state !== "closed" || unansweredSince === null;
    this.#world.check("worked", isDone, () => `a closed chat waits since ${unansweredSince}`);
  }

  /** Faults have stopped, and all that waits has ended. */
  ended(chat: SimulatedObject, { work }: Book): void {
    const isOver = work.snoozedUntil !== null && work.snoozedUntil <= chat.now;
    this.#world.check("worked", !isOver, () => `${chat.name} is snoozed until ${work.snoozedUntil}, which has passed`);
  }
}
