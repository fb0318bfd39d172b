import type { EventFact } from "../events/event.ts";
import type { Logger } from "../log.ts";
import type { CallHost } from "./call-webhook.ts";
import type { WebhookAttempt, WebhookFilter, WebhookPermitAnswer, WebhookPermitRequest } from "./rpc.ts";

/** The calls that a line makes to its webhook's object. Each rejects if the object does not answer. */
export interface WebhookPort {
  permit(request: WebhookPermitRequest): Promise<WebhookPermitAnswer>;
  report(attempt: WebhookAttempt): Promise<void>;
}

/** The owner of lines: a chat, or an organization for its own events. */
export interface LineHost extends CallHost {
  kv: Pick<SyncKvStorage, "get" | "put" | "delete" | "list">;
  logger: Logger;
  /** The id of the chat or of the organization. */
  lineId: string;
  /** False after the owner was deleted. Then its rows are gone too. */
  exists(): boolean;
  /** The number of the newest event; 0 if there is none. */
  newest(): number;
  /** The first event after a number that the filter lets through. */
  next(after: number, filter: WebhookFilter): EventFact | null;
  /** How many events after a number the filter lets through. */
  count(after: number, filter: WebhookFilter): number;
  webhook(id: string): WebhookPort;
  /** Sets the owner's alarm to `at` or earlier. */
  standBy(at: number): Promise<void>;
}
