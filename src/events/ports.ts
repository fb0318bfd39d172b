import { callChat, type Owner } from "../calls/call-chat.ts";
import { answerWithin } from "../calls/call-object.ts";
import { callOrganization, type OrganizationStub } from "../calls/call-organization.ts";
import type { EventsAsked } from "../model/chat-answers.ts";
import { ApiError } from "../model/error.ts";
import { type EventFact, parseEventId } from "../model/event.ts";
import type { FeedFilter } from "../model/event-filter.ts";
import { renderEvent, unreadableEvent } from "../model/event-json.ts";
import { causeOf } from "../platform/log.ts";
import type { ChatEventsPort } from "./chat-reader.ts";
import type { FeedPort, LoggedEvent, NumberRange } from "./feed-reader.ts";

const READ_TIMEOUT_MS = 10_000;

/** An organization's feed, by its object and those of its chats. @param count is called with each call of an object */
export function feedPort(env: Env, owner: Owner, { types }: FeedFilter, count: () => void = () => {}): FeedPort {
  const { organizationId, region } = owner;
  const ask = <R>(call: (organization: OrganizationStub) => R) => {
    const counted = (organization: OrganizationStub) => {
      count();
      return call(organization);
    };
    return callOrganization(env, organizationId, counted, region);
  };
  return {
    pointers: (after, limit) => ask((organization) => organization.feed(after, limit)),
    events({ chatId, life }, range) {
      if (chatId === null) {
        count();
        return ownEvents(env, owner, range);
      }
      const read = () => chatEvents(env, owner, chatId, { ...range, life }, types, count);
      return answerWithin(READ_TIMEOUT_MS, read).then(({ events }) => events, noneIfDeleted);
    },
    failed(chatId, error) {
      console.warn({ event: "chat_not_readable", chatId, error: causeOf(error) });
      return ask((organization) => organization.chatUnreadable(chatId));
    },
    worked: (chatId) => ask((organization) => organization.chatReadable(chatId)),
    standIn: (life, pointer, range) => JSON.stringify(unreadableEvent(organizationId, life, pointer, range)),
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

function chatEvents(
  env: Env,
  owner: Owner,
  chatId: string,
  range: EventsAsked,
  types: string[] | null,
  count: () => void = () => {},
) {
  return callChat(env, owner, chatId, (chat, as) => {
    count();
    // It was asked of the organization's object.
    if (as.knownIdentity) count();
    return chat.events(as, range, types);
  });
}

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
