import type { ListedType } from "../model/event.ts";

export interface ReadEvent {
  type: ListedType;
  /** The event as JSON. */
  doc: string;
  /** Continues after this event. */
  cursor: string;
}

/**
 * Events in order, and where to continue. A page can be empty although more follow, because a filter took all events.
 */
export interface EventPage {
  events: ReadEvent[];
  /** Continues after the page. */
  cursor: string;
  /** Whether there was more to read. */
  hasMore: boolean;
  /** Why the page is empty although there is more, if the next events can't be read for a moment. */
  heldBy?: unknown;
}

/** Reads events in order. Each read begins where the previous one ended. */
export interface EventReader {
  /**
   * Everything up to this number was read. It is a position of the feed, or an event's number, as the reader's doorbell
   * sends it.
   */
  readonly readUpTo: number;

  /** Reads up to `limit` events, at least 1. @throws ApiError `cursor_expired` */
  read(limit: number): Promise<EventPage>;
}
