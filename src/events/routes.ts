import { Hono } from "hono/quick";
import { json } from "../http/etag.ts";
import { fault, noQuery, validQuery } from "../http/validation.ts";
import { requirePermission } from "../keys/guard.ts";
import type { FeedFilter } from "../model/event-filter.ts";
import { MAX_STREAM_MS } from "../model/organization.ts";
import { typingFrame } from "../model/typing.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { causeOf } from "../platform/log.ts";
import { ChatReader } from "./chat-reader.ts";
import { type Doorbell, follow } from "./follow.ts";
import {
  type EventsContext,
  type EventsEnv,
  openDoorbellFor,
  openFeed,
  PERMISSION,
  waitForEvents,
  watchedKey,
} from "./poll.ts";
import { chatEventsPort, findEvent } from "./ports.ts";
import { chatEventsQuery, eventsQuery, filterOf, streamQuery } from "./query.ts";
import type { EventPage, EventReader } from "./reader.ts";
import { writeStream } from "./stream.ts";

const STREAM_PAGE = 100;
const STREAM_HEADERS = { "Content-Type": "text/event-stream" };

/** The events of an organization and of a chat. */
export const eventRoutes = new Hono<EventsEnv>()
  .get("/events", requirePermission(PERMISSION), validQuery(eventsQuery), async (c) => {
    const { after, from, limit, wait, ...filter } = c.req.valid("query");
    if (after !== undefined && from !== undefined) throw fault("after", "can't be given with from");
    const start = after === undefined ? (from ?? "oldest") : { text: after, name: "after" };
    return answerPage(c, await waitForEvents(c, await openFeed(c, filter, start), { limit, wait }));
  })
  .get("/events/stream", requirePermission(PERMISSION), validQuery(streamQuery), async (c) => {
    const { after, ...filter } = c.req.valid("query");
    // A client that connects again sends the header, and often the same URL. Before its first event it may be empty.
    const lastEventId = c.req.header("Last-Event-ID") || undefined;
    const [text, name] = lastEventId === undefined ? [after, "after"] : [lastEventId, "Last-Event-ID"];
    const calls = { made: 0 };
    const feed = await openFeed(c, filter, text === undefined ? "now" : { text, name }, () => calls.made++);
    return answerStream(c, feed, filterOf(filter), calls);
  })
  .get("/events/:id", requirePermission(PERMISSION), noQuery, async (c) => {
    return json(c, `{"event":${await findEvent(c.env, c.var.caller, c.req.param("id"))}}`);
  })
  .get("/chats/:id/events", requirePermission(PERMISSION), validQuery(chatEventsQuery), async (c) => {
    const { after, limit, wait } = c.req.valid("query");
    const chat = c.req.param("id");
    const reader = new ChatReader(chatEventsPort(c.env, c.var.caller, chat), after);
    return answerPage(c, await waitForEvents(c, reader, { limit, wait }, { chat }));
  });

function answerPage(c: EventsContext, { events, cursor, hasMore }: EventPage): Response {
  const documents = events.map(({ doc, cursor }) => `${doc.slice(0, -1)},"cursor":${JSON.stringify(cursor)}}`);
  return json(c, `{"events":[${documents.join()}],"cursor":${JSON.stringify(cursor)},"hasMore":${hasMore}}`);
}

/** Answers with a live stream. @throws ApiError `stream_limit`, `cursor_expired` */
async function answerStream(
  c: EventsContext,
  reader: EventReader,
  filter: FeedFilter,
  calls: { made: number },
): Promise<Response> {
  if (c.req.method === "HEAD") return c.body(null, 200, STREAM_HEADERS);
  const listener = { stream: crypto.randomUUID() };
  let doorbell: Doorbell | undefined;
  let resumed: Promise<void> | undefined;
  let writeNow: ((frame: string) => void) | undefined;
  const openOwn = async () => {
    // A client that reads nothing gets no place.
    await resumed;
    calls.made++;
    doorbell = await openDoorbellFor(c, listener);
    doorbell.onNews = (text) => {
      const frame = typingFrame(text, filter);
      if (frame !== null) writeNow?.(frame);
    };
    return doorbell;
  };
  const first = await openOwn();
  const { readable, writable } = new IdentityTransformStream();
  const watch = watchedKey(c);
  const endsAt = SYSTEM_CLOCK.now() + MAX_STREAM_MS;
  const ports = { reader, openDoorbell: openOwn, clock: SYSTEM_CLOCK, signal: watch.signal };
  const rest = follow(ports, { limit: STREAM_PAGE, endsAt }, first);
  // Read before the headers are sent: a client that gets no error would ask with an expired cursor forever.
  const page = await rest.next().catch((error: unknown) => {
    watch.stop();
    throw error;
  });
  const pages = continued(page, rest);
  // Not awaited, and no `waitUntil`: it ends with the response, also if the client leaves.
  writeStream(writable, pages, {
    clock: SYSTEM_CLOCK,
    signal: watch.signal,
    endsAt,
    calls: () => calls.made,
    onOpen(write) {
      writeNow = write;
    },
    onLost: () => watch.stop(),
    onStalled(until) {
      resumed = until;
      doorbell?.close();
    },
  })
    .catch((error: unknown) => {
      // The client connects again, and gets the error then if it lasts.
      console.warn({ event: "stream_ended", requestId: c.var.requestId, error: causeOf(error) });
    })
    .finally(() => watch.stop());
  return c.body(readable, 200, STREAM_HEADERS);
}

async function* continued(first: IteratorResult<EventPage, void>, rest: AsyncGenerator<EventPage, void, undefined>) {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}
