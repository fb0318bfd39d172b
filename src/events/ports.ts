import { callChat } from "../chats/call-chat.ts";
import type { EventsAsked } from "../chats/rpc.ts";
import type { Region } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { callOrganization } from "../organizations/call-organization.ts";
import type { ChatEventsPort } from "./chat-reader.ts";
import { type EventFact, parseEventId } from "./event.ts";
import type { FeedFilter, FeedPort, LoggedEvent, NumberRange } from "./feed-reader.ts";
import { renderEvent } from "./render.ts";

interface Owner {
  organizationId: string;
  region?: Region | null;
}

/** An organization's feed, by its object and those of its chats. */
export function feedPort(env: Env, owner: Owner, { types }: FeedFilter): FeedPort {
  const { organizationId, region } = owner;
  return {
    pointers: (after, limit) =>
      callOrganization(env, organizationId, (organization) => organization.feed(after, limit), region),
    events: ({ chatId, life }, range) =>
      chatId === null
        ? ownEvents(env, owner, range)
        : chatEvents(env, owner, chatId, { ...range, life }, types).then(({ events }) => events, noneIfDeleted),
  };
}

/** The events of one chat. @throws ApiError `chat_not_found` */
export function chatEventsPort(env: Env, owner: Owner, chatId: string): ChatEventsPort {
  return { events: (range) => chatEvents(env, owner, chatId, range, null) };
}

/**
 * The event with an id, as JSON.
 * @throws ApiError `event_not_found`, also for an event of another organization, or of a chat that was deleted
 */
export async function findEvent(env: Env, owner: Owner, id: string): Promise<string> {
  const parts = parseEventId(id);
  if (!parts) throw new ApiError("event_not_found");
  const range = { first: parts.number, last: parts.number };
  const isOwn = owner.organizationId === `org_${parts.tail}`;
  const events = isOwn
    ? await ownEvents(env, owner, range)
    : await chatEvents(env, owner, `cht_${parts.tail}`, range, null).then(({ events }) => events, noneIfDeleted);
  const event = events.find(({ doc }) => (JSON.parse(doc) as { id: string }).id === id);
  if (!event) throw new ApiError("event_not_found");
  return event.doc;
}

function chatEvents(env: Env, owner: Owner, chatId: string, range: EventsAsked, types: string[] | null) {
  return callChat(env, owner, chatId, (chat, knownIdentity) =>
    chat.events(owner.organizationId, range, types, knownIdentity),
  );
}

/** The organization's own events. */
async function ownEvents(env: Env, { organizationId, region }: Owner, range: NumberRange): Promise<LoggedEvent[]> {
  const { first, last } = range;
  const read = await callOrganization(env, organizationId, (object) => object.ownEvents(first, last), region);
  // The types of calls between objects don't know that facts can be sent.
  const own = read as { life: string; events: EventFact[] } | null;
  if (!own) return [];
  return own.events.map((fact) => {
    const event = renderEvent(fact, { organizationId, chat: null }, own.life, {});
    return { number: fact.number, type: fact.type, doc: JSON.stringify(event) };
  });
}

function noneIfDeleted(error: unknown): LoggedEvent[] {
  if (error instanceof ApiError && error.code === "chat_not_found") return [];
  throw error;
}
