import type { ChannelKind } from "./channel-kind.ts";
import { type Event, type EventOrigin, TYPING } from "./event.ts";
import { type FeedFilter, matches } from "./event-filter.ts";

/** Who writes. */
export interface TypingBy {
  type: "contact" | "operator" | "key" | "member";
  id: string | null;
  name: string | null;
}

/** A `chat.typing` as a stream sends it, in this order of fields. */
export interface ShownTyping extends Pick<Event, "timestamp" | "organizationId"> {
  type: typeof TYPING;
  chatId: string;
  channelId: string;
  channelKind: ChannelKind;
  contactAddress: string;
  data: { by: TypingBy };
}

/** A `chat.typing` as its chat reports it, and the channel that filters look at. */
export interface TypingNews {
  channelId: string;
  /** The event as JSON. */
  doc: string;
}

/** @param at Unix milliseconds */
export function typingNews(
  { organizationId, chat }: { organizationId: string; chat: NonNullable<EventOrigin["chat"]> },
  by: TypingBy,
  at: number,
): TypingNews {
  const { id: chatId, channelId, channelKind, contactAddress } = chat;
  const timestamp = new Date(at).toISOString();
  const event: ShownTyping = {
    type: TYPING,
    timestamp,
    organizationId,
    chatId,
    channelId,
    channelKind,
    contactAddress,
    data: { by },
  };
  return { channelId, doc: JSON.stringify(event) };
}

/** The frame of a stream; null if its filter leaves it out. It has no `id`, so that the client's cursor stays. */
export function typingFrame(text: string, filter: FeedFilter): string | null {
  const { channelId, doc } = JSON.parse(text) as TypingNews;
  return matches(filter, TYPING, channelId) ? `event: ${TYPING}\ndata: ${doc}\n\n` : null;
}
