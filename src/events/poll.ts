import type { Context } from "hono";
import type { RequestVariables } from "../http/request-log.ts";
import { fault } from "../http/validation.ts";
import type { KeyVariables } from "../keys/guard.ts";
import { KeyWatch, refusalNow } from "../keys/key-watch.ts";
import { unavailable } from "../model/error.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { readCursor } from "./cursor.ts";
import { type Listener, openDoorbell } from "./doorbell.ts";
import { cursorAt, FeedReader } from "./feed-reader.ts";
import { type Doorbell, type FollowPorts, follow } from "./follow.ts";
import { HELD_RETRY_SECONDS } from "./held-up.ts";
import { feedPort } from "./ports.ts";
import { type FilterQuery, filterOf } from "./query.ts";
import type { EventPage, EventReader } from "./reader.ts";

export type EventsEnv = { Bindings: Env; Variables: RequestVariables & KeyVariables };
export type EventsContext = Context<EventsEnv>;

/** Where to begin: an end of the feed, or the text of a cursor and the parameter or header that it is from. */
type Start = "oldest" | "now" | { text: string; name: string };

/** What whoever reads events needs. */
export const PERMISSION = "events:read";

/** @param count is called with each call of an object */
export async function openFeed(
  c: EventsContext,
  query: FilterQuery,
  start: Start,
  count?: () => void,
): Promise<FeedReader> {
  const filter = filterOf(query);
  const port = feedPort(c.env, c.var.caller, filter, count);
  const cursor = typeof start === "string" ? await cursorAt(start, port) : readCursor(start.text);
  if (cursor === null) throw fault((start as { name: string }).name, "is not a cursor of this list");
  return new FeedReader(port, filter, cursor);
}

/**
 * Reads a page, and waits up to `wait` seconds for its first event.
 * @throws ApiError if the key is refused meanwhile; `cursor_expired`; `stream_limit` if the listener is a stream
 */
export async function waitForEvents(
  c: EventsContext,
  reader: EventReader,
  { limit, wait }: { limit: number; wait: number },
  listener: Listener = {},
): Promise<EventPage> {
  const watch = watchedKey(c);
  try {
    const endsAt = SYSTEM_CLOCK.now() + wait * 1_000;
    let last: EventPage | undefined;
    for await (const page of follow(portsOf(c, reader, watch, listener), { limit, endsAt })) {
      last = page;
      if (page.events.length > 0 || (page.hasMore && page.heldBy === undefined)) break;
    }
    watch.signal.throwIfAborted();
    if (last?.heldBy !== undefined) throw unavailable(last.heldBy, HELD_RETRY_SECONDS);
    return last as EventPage;
  } finally {
    watch.stop();
  }
}

export function watchedKey(c: EventsContext): KeyWatch {
  return new KeyWatch(() => refusalNow(c, PERMISSION), SYSTEM_CLOCK);
}

function portsOf(c: EventsContext, reader: EventReader, { signal }: KeyWatch, listener: Listener): FollowPorts {
  return { reader, openDoorbell: () => openDoorbellFor(c, listener), clock: SYSTEM_CLOCK, signal };
}

/** Opens a doorbell for the key or the session of a request. @throws ApiError as `openDoorbell` */
export function openDoorbellFor(c: EventsContext, listener: Listener): Promise<Doorbell> {
  const { caller, session } = c.var;
  if (!session) return openDoorbell(c.env, caller, listener);
  const { type, id } = caller.principal;
  return openDoorbell(c.env, caller, { ...listener, session: session.id, ...(type === "member" && { member: id }) });
}
