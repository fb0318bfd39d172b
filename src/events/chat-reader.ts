import { ApiError } from "../model/error.ts";
import type { LoggedEvent, NumberRange } from "./feed-reader.ts";
import type { EventPage, EventReader } from "./reader.ts";

/** Where a chat's events are. */
export interface ChatEventsPort {
  /** The events in a range, in order, and the number of the newest; 0 if there is none. */
  events(range: NumberRange): Promise<{ events: LoggedEvent[]; newest: number }>;
}

/** Reads the events of one chat. A cursor is the number of the last event that was read. */
export class ChatReader implements EventReader {
  readonly #port: ChatEventsPort;
  #readUpTo: number;

  constructor(port: ChatEventsPort, after: number) {
    this.#port = port;
    this.#readUpTo = after;
  }

  get readUpTo(): number {
    return this.#readUpTo;
  }

  async read(limit: number): Promise<EventPage> {
    const after = this.#readUpTo;
    const { events, newest } = await this.#port.events({ first: after + 1, last: after + limit });
    // The chat was deleted and created again, or restored to an earlier time.
    if (after > newest) throw new ApiError("cursor_expired");
    this.#readUpTo = events.at(-1)?.number ?? after;
    return {
      events: events.map(({ number, type, doc }) => ({ type, doc, cursor: String(number) })),
      cursor: String(this.#readUpTo),
      hasMore: newest > this.#readUpTo,
    };
  }
}
