import * as z from "zod";
import { CHANNEL_KINDS } from "../channels/kinds.ts";
import { chatEventsQuery, eventsQuery, MAX_WAIT, streamQuery } from "../events/query.ts";
import { MAX_STREAM_CALLS, MAX_STREAM_EVENTS } from "../events/stream.ts";
import { EVENT_TYPES, type Event, type EventType, LISTED_TYPES, type ListedType, TYPING } from "../model/event.ts";
import { TYPE_PATTERNS } from "../model/event-filter.ts";
import { MAX_STREAM_MS, MAX_STREAMS } from "../model/organization.ts";
import type { ShownTyping } from "../model/typing.ts";
import { DATA_BY_TYPE, eventData, thinEventData } from "./event-data.ts";
import { examples } from "./examples.ts";
import { jsonResponse, tagged } from "./operation.ts";
import { countOrNull, id, oneOf, resource, text, textOrNull, time } from "./typed-schema.ts";

type FullEvent<Type extends ListedType = ListedType> = Required<Omit<Event<Type>, "previous">>;

const TYPE = "The type. Ignore types that you don't know: new ones can appear at any time";

const fields = {
  id: text("The event's id. It is the same in webhooks, in lists and in streams"),
  type: oneOf(LISTED_TYPES, TYPE),
  timestamp: time("When it happened"),
  organizationId: id("organization"),
  chatId: id("chat").nullable().describe("The chat's id. Null if it is not about a chat"),
  channelId: id("channel").nullable().describe("The channel's id. Null if it is not about a channel"),
  channelKind: z.enum(CHANNEL_KINDS).nullable().describe("The kind of channel. Null if it is not about a channel"),
  contactAddress: textOrNull("The contact's current address on the channel. Null for an event of the organization"),
  number: z
    .int()
    .min(1)
    .nullable()
    .describe("The event's number in the chat: 1, 2, 3 … without a gap. Null for an event of the organization"),
  data: eventData.describe(
    `What happened, by type: ${DATA_BY_TYPE}. The facts never change. \`message\` and \`chat\` are as they are now: a redaction holds for old events too`,
  ),
};

const eventSchema = resource<FullEvent>()("Event", "Something that happened in an organization.", z.object(fields));

const typingSchema = resource<ShownTyping>()(
  "TypingEvent",
  "Somebody is typing. Only streams have this event.",
  z.object({
    type: z.literal(TYPING),
    timestamp: fields.timestamp,
    organizationId: fields.organizationId,
    chatId: id("chat"),
    channelId: id("channel"),
    channelKind: z.enum(CHANNEL_KINDS),
    contactAddress: text("The contact's current address on the channel"),
    data: z.object({
      by: z.object({
        type: oneOf(["contact", "member", "key", "operator"], "Who is typing: the contact, or somebody of the company"),
        id: textOrNull("The id of the member or the key. Null for the contact"),
        name: textOrNull("The name. Null if the contact has none"),
      }),
    }),
  }),
);

const calledFields = { ...fields, type: oneOf(EVENT_TYPES, TYPE) };
const { contactAddress: _, ...thinFields } = calledFields;
const previous = countOrNull(
  "The number of the chat's event before this one for this webhook. Null for the first, and in a replay",
);

/** The body of a webhook's call with the payload `full`. */
export const webhookEventSchema = resource<FullEvent<EventType> & { previous: number | null }>()(
  "WebhookEvent",
  "An event in a webhook's call.",
  z.object({ ...calledFields, previous }),
);

/** The body of a webhook's call with the payload `thin`. */
export const thinWebhookEventSchema = resource<
  Omit<FullEvent<EventType>, "contactAddress"> & { previous: number | null }
>()(
  "ThinWebhookEvent",
  "An event in a webhook's call with the payload `thin`: ids and facts alone.",
  z.object({ ...thinFields, data: thinEventData.describe("The facts, by type"), previous }),
);

const listedEventSchema = resource<FullEvent & { cursor: string }>()(
  "ListedEvent",
  "An event in a list.",
  z.object({ ...fields, cursor: text("Continues after this event, as `after` or `Last-Event-ID`") }),
);

const pageSchema = z.object({
  events: z.array(listedEventSchema),
  cursor: text("Continues after this page, as `after`. It moves on even if the page is empty"),
  hasMore: z
    .boolean()
    .describe("Whether there is more to read now. The next page can be empty if the filter matches none of its events"),
});

const { event } = examples;
const examplePage = { events: [{ ...event, cursor: examples.cursor }], cursor: examples.cursor, hasMore: false };

const LIMIT = "The maximum number of events on a page.";
const WAIT = `For how many seconds to wait for an event if there is none: 0 to ${MAX_WAIT}. The response comes as soon as there is one. A wait counts as one request.`;
const filterDescriptions = {
  types: `Only these types, separated by commas: ${TYPE_PATTERNS.join(", ")}. \`message.*\` has all types that begin with \`message.\`, also future ones.`,
  channel: "A channel's id. Only the events of this channel and its chats, and events without a channel.",
};
const filterKeywords = { channel: { pattern: "^chn_[0-9A-Za-z]+$" } };
const minutes = MAX_STREAM_MS / 60_000;

export const EVENT_OPERATIONS = tagged("Events", [
  {
    route: "GET /events",
    id: "listEvents",
    summary: "List events",
    description:
      "Lists the organization's events, oldest first. Pass the `cursor` of a response as `after` of the next request to read each event once and in order, also after a crash. Events of a chat are in the order of `number`. An event appears within a few seconds, and at once while a client waits or streams. Events are kept for 30 days, or fewer if there are very many. Events of deleted chats are left out. If the next events can't be read for a moment, the response is a 503: ask again. If a chat can't be read for two minutes, `chat.unreadable` comes in place of its events, whatever `types` says: its `data` has their numbers, and `GET /chats/{id}/events` lists them later.",
    query: {
      schema: eventsQuery,
      descriptions: {
        after: "The `cursor` of a page or of an event. Can't be combined with `from`.",
        from: "`oldest` begins with the oldest event that is kept, `now` with the next one. Default: oldest.",
        limit: LIMIT,
        wait: WAIT,
        ...filterDescriptions,
      },
      keywords: filterKeywords,
    },
    responses: [jsonResponse(200, "A page of events. It is empty if there are none yet.", pageSchema, examplePage)],
    errors: ["cursor_expired"],
  },
  {
    route: "GET /events/stream",
    id: "streamEvents",
    summary: "Stream events",
    description: `Sends events as they happen, as Server-Sent Events: \`id\` is the cursor, \`event\` the type, and \`data\` the event as JSON. The stream also has \`chat.typing\`, whose \`data.by\` says who is typing: it has no \`id\`, and it is in no list. If nothing happens, a comment comes every 20 seconds, and an empty comment line every 2 seconds. A stream ends after ${minutes} minutes, ${MAX_STREAM_EVENTS.toLocaleString("en")} events or ${MAX_STREAM_CALLS.toLocaleString("en")} calls within the service, and within 10 seconds after its key was revoked. Connect again with the last \`id\` as \`Last-Event-ID\` to continue without a gap. An organization's keys can have ${MAX_STREAMS} streams at a time. A stream whose client left, or stopped reading, frees its place within 5 seconds. A stream counts as one request.`,
    query: {
      schema: streamQuery,
      descriptions: {
        after:
          "The cursor to continue after. `Last-Event-ID` comes first if both are sent. Without either, the stream begins with the next event.",
        ...filterDescriptions,
        types: `${filterDescriptions.types} Also \`${TYPING}\`, which \`chat.*\` has too.`,
      },
      keywords: filterKeywords,
    },
    headers: [
      {
        name: "Last-Event-ID",
        description: "The `id` of the last event that you got. The stream continues after it.",
        schema: { type: "string" },
        example: examples.cursor,
      },
    ],
    responses: [
      {
        status: 200,
        description: "The stream. Each `data` is an Event or a TypingEvent as JSON.",
        contentType: "text/event-stream",
        part: z.union([eventSchema, typingSchema]),
      },
    ],
    errors: ["stream_limit", "cursor_expired"],
  },
  {
    route: "GET /events/{id}",
    id: "readEvent",
    summary: "Read an event",
    description: "Returns one event. Events of a chat are kept as long as the chat.",
    responses: [jsonResponse(200, "The event.", z.object({ event: eventSchema }), { event })],
  },
  {
    route: "GET /chats/{id}/events",
    id: "listChatEvents",
    summary: "List a chat's events",
    description:
      "Lists the events of one chat, oldest first, from its creation on. They are kept as long as the chat. Here a cursor is the `number` of an event.",
    query: {
      schema: chatEventsQuery,
      descriptions: { after: "The `number` of the event to continue after.", limit: LIMIT, wait: WAIT },
    },
    responses: [
      jsonResponse(200, "A page of events. It is empty if there are none yet.", pageSchema, {
        ...examplePage,
        events: [{ ...event, cursor: String(event.number) }],
        cursor: String(event.number),
      }),
    ],
    errors: ["cursor_expired"],
  },
]);
