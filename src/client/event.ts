import type { components } from "../openapi/client/types.ts";

type Schema = components["schemas"]["Event"];

/** What happened, in a chat or in the organization. Ignore types that you don't know: there will be more. */
export interface ParleyEvent extends Omit<Schema, "contactAddress" | "data"> {
  /** Absent in a webhook's call with the payload `thin`. */
  contactAddress?: Schema["contactAddress"];
  data: EventData;
}

/** The message or chat as it is when the event is read. */
export interface EventData {
  message?: components["schemas"]["Message"] | null;
  chat?: components["schemas"]["Chat"] | null;
  /** What a note says is in no event. */
  note?: components["schemas"]["NoteEventData"]["note"];
  [field: string]: unknown;
}

/** An event of the feed, with the cursor that continues after it. */
export interface FollowedEvent extends ParleyEvent {
  cursor: string;
}

/** Somebody writes in a chat. */
export type TypingEvent = components["schemas"]["TypingEvent"];

/** An event in a webhook's call. */
export interface WebhookEvent extends ParleyEvent {
  /** The number of the event before this one of its chat for this webhook; null for the first. */
  previous: number | null;
}
