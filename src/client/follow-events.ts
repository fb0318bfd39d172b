import { ParleyError, responseError } from "./error.ts";
import type { FollowedEvent, TypingEvent } from "./event.ts";
import { pause, retryWaitMs } from "./retry.ts";
import { readBlocks } from "./server-sent-events.ts";

export interface EventOptions {
  /** Continues after this event's `cursor`. */
  after?: string;
  /** Where to begin without `after`; `now` by default. */
  from?: "oldest" | "now";
  /** Only events of these types; a family is named `message.*`. All by default. */
  types?: readonly string[];
  /** Only events of this channel. */
  channel?: string;
  /** Ends the events when aborted. */
  signal?: AbortSignal;
  /** Is called when somebody writes. No event: it is in no list, and comes only while the stream is open. */
  onTyping?: (event: TypingEvent) => void;
  /** Is called when the stream is open, and with the reason when it is lost. */
  onConnection?: (state: { open: true } | { open: false; error: ParleyError }) => void;
}

/** How events are asked for. */
export interface EventSource {
  /** A page of `GET /events`. @throws ParleyError */
  page(query: Record<string, string>, signal: AbortSignal): Promise<EventPage>;
  /** Opens `GET /events/stream`, without retries. @throws ParleyError without an answer */
  stream(query: Record<string, string>, signal: AbortSignal): Promise<Response>;
}

interface EventPage {
  events: FollowedEvent[];
  cursor: string;
  hasMore: boolean;
}

/** The service sends a comment every 20 s. A connection without anything for this long is dead. */
const SILENCE_MS = 60_000;

/**
 * Yields events forever, each at least once and those of a chat in their order. Continues after the last one if the
 * connection is lost.
 * @throws ParleyError if a retry can't help: `cursor_expired`, `invalid_api_key`, `permission_denied`, …
 */
export async function* followEvents(
  source: EventSource,
  { after, from = "now", types, channel, signal = new AbortController().signal, onConnection, onTyping }: EventOptions,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const filter = { ...(types && { types: types.join(",") }), ...(channel !== undefined && { channel }) };
  try {
    let cursor = after;
    // A page gives a cursor. A stream needs none to begin, but losing it before its first event would leave a gap.
    for (let hasMore = cursor === undefined; hasMore; ) {
      const query: Record<string, string> = cursor === undefined ? { from } : { after: cursor };
      const page = await source.page({ ...filter, ...query, limit: "100" }, signal);
      yield* page.events;
      ({ cursor, hasMore } = page);
    }
    let wasOpen = false;
    for (let failures = 0; ; ) {
      const onOpen = () => {
        wasOpen = true;
        onConnection?.({ open: true });
      };
      const connection = { query: { ...filter, after: cursor ?? "" }, signal, onOpen, onBytes: () => (failures = 0) };
      try {
        for await (const { id, data } of blocksOf(source, connection)) {
          cursor = id ?? cursor;
          if (data === null) continue;
          const event = JSON.parse(data) as FollowedEvent | TypingEvent;
          if (isTyping(event)) onTyping?.(event);
          else yield { ...event, cursor: cursor ?? "" };
        }
        // The service ends each stream after some minutes. The wait is for a stream that ends at once.
        await pause(retryWaitMs(++failures), signal);
      } catch (error) {
        if (!isPassing(error, wasOpen)) throw error;
        onConnection?.({ open: false, error });
        await pause(Math.max((error.retryAfterSeconds ?? 0) * 1_000, retryWaitMs(++failures)), signal);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface Connection {
  query: Record<string, string>;
  signal: AbortSignal;
  onOpen: () => void;
  onBytes: () => void;
}

/** The blocks of one connection, until the service ends it. @throws ParleyError */
async function* blocksOf(source: EventSource, { query, signal, onOpen, onBytes }: Connection) {
  const watch = new AbortController();
  const startWatch = () => setTimeout(() => watch.abort(), SILENCE_MS);
  let timer = startWatch();
  try {
    const response = await source.stream(query, AbortSignal.any([signal, watch.signal]));
    if (!response.ok || !response.body) throw responseError(response, await response.json().catch(() => null));
    onOpen();
    yield* readBlocks(response.body, () => {
      onBytes();
      clearTimeout(timer);
      timer = startWatch();
    });
  } catch (cause) {
    if (cause instanceof ParleyError || signal.aborted) throw cause;
    const message = watch.signal.aborted ? "The event stream went silent" : "The event stream was cut";
    throw new ParleyError(message, { status: null, code: "unreachable", cause });
  } finally {
    clearTimeout(timer);
  }
}

function isTyping(event: { type: string }): event is TypingEvent {
  return event.type === "chat.typing";
}

function isPassing(error: unknown, wasOpen: boolean): error is ParleyError {
  if (!(error instanceof ParleyError)) return false;
  const { status, code } = error;
  // The service may still count this client's lost stream.
  return status === null || status === 429 || status >= 500 || (wasOpen && code === "stream_limit");
}
