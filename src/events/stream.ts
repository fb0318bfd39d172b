import type { Clock } from "../platform/clock.ts";
import type { EventPage, ReadEvent } from "./reader.ts";

/** The maximum number of events in one stream. Clients then connect again. */
export const MAX_STREAM_EVENTS = 10_000;
/**
 * The maximum number of calls to objects in one stream: the platform allows 10,000 per request. A page can take 2,400,
 * and the checks of the key some hundreds. On its free plan the platform allows 1,000: there a stream breaks off earlier,
 * and its client connects again and goes on.
 */
export const MAX_STREAM_CALLS = 5_000;
/** When a client should connect again, in milliseconds. */
const RETRY_MS = 2_000;
const COMMENT_EVERY_MS = 20_000;
/**
 * Only writing shows that a client has left, and the first write after that still succeeds. An empty comment line means
 * nothing to a client.
 */
const PROBE_EVERY_MS = 2_000;
const PROBE = ":\n";
/** A client that reads nothing for this long loses the place of its stream. */
const STALLED_AFTER_MS = 4_000;

interface StreamPorts {
  clock: Pick<Clock, "now" | "timer">;
  /** Aborts when nothing more may be sent. */
  signal: AbortSignal;
  /** When the stream ends even if the client does not read, Unix milliseconds. */
  endsAt: number;
  /** How many calls were made for the pages. */
  calls: () => number;
  /** Gets a function that writes a frame at once, or drops it if the client has not read what came before. */
  onOpen: (write: (frame: string) => void) => void;
  /** The client has left. `signal` aborts then. */
  onLost: () => void;
  /**
   * The client has read nothing for a few seconds.
   * @param resumed resolves when it reads again, or the stream is over
   */
  onStalled: (resumed: Promise<void>) => void;
}

/**
 * Writes pages of events as Server-Sent Events until the pages end or the client leaves. Waits for the client to read
 * each page before the next one. A comment has a cursor too, so that a client that gets no event for long does not
 * continue from far back.
 * @throws the error of `pages`, after the stream was closed
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export async function writeStream(
  writable: WritableStream<Uint8Array>,
  pages: AsyncGenerator<EventPage, void, undefined>,
  { clock, signal, endsAt, calls, onOpen, onLost, onStalled }: StreamPorts,
): Promise<void> {
  const writer = writable.getWriter();
  const { promise: over, resolve: end } = Promise.withResolvers<"over">();
  const cancelTimer = clock.timer(endsAt - clock.now(), () => end("over"));
  signal.addEventListener("abort", () => end("over"));
  let writing = 0;
  /** @returns whether the client read the text */
  const write = async (text: string): Promise<boolean> => {
    const { promise: resumed, resolve: resume } = Promise.withResolvers<void>();
    const cancel = clock.timer(STALLED_AFTER_MS, () => onStalled(resumed));
    writing++;
    try {
      return (await Promise.race([writer.write(new TextEncoder().encode(text)), over])) !== "over";
    } catch {
      // The client left.
      return false;
    } finally {
      writing--;
      cancel();
      resume();
    }
  };
  let isOver = false;
  let cancelProbe = () => {};
  const probe = async () => {
    const isLost = writing === 0 && !(await write(PROBE));
    if (isOver) return;
    if (isLost) onLost();
    else probeLater();
  };
  const probeLater = () => {
    cancelProbe = clock.timer(PROBE_EVERY_MS, () => void probe());
  };
  probeLater();
  onOpen((frame) => {
    if (isOver || signal.aborted || writing > 0) return;
    void write(frame).then((isRead) => {
      if (!isRead && !isOver) onLost();
    });
  });
  let count = 0;
  let writtenAt = Number.NEGATIVE_INFINITY;
  try {
    for await (const page of pages) {
      if (signal.aborted) break;
      const text = textOf(page, clock.now() - writtenAt >= COMMENT_EVERY_MS);
      const isSpent = calls() >= MAX_STREAM_CALLS;
      if (text === "" && isSpent) break;
      if (text === "") continue;
      const isFirst = writtenAt < 0;
      writtenAt = clock.now();
      count += page.events.length;
      if (!(await write(isFirst ? `retry: ${RETRY_MS}\n${text}` : text))) return await drop(writer);
      if (count >= MAX_STREAM_EVENTS || isSpent) break;
    }
  } finally {
    isOver = true;
    end("over");
    cancelProbe();
    cancelTimer();
    // Does not wait: the client may never read the end.
    writer.close().catch(() => {});
  }
}

/** The text of a page: its events, or a comment if one is due. */
function textOf({ events, cursor }: EventPage, isCommentDue: boolean): string {
  if (events.length > 0) return events.map(frameOf).join("");
  return isCommentDue ? `:\nid: ${cursor}\n\n` : "";
}

/** JSON has no line breaks. */
function frameOf({ type, doc, cursor }: ReadEvent): string {
  return `id: ${cursor}\nevent: ${type}\ndata: ${doc}\n\n`;
}

/** Ends a stream without what the client has not read. */
function drop(writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  return writer.abort(new Error("The stream is over")).catch(() => {});
}
