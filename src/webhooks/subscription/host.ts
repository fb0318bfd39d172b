import type { EventFact } from "../../model/event.ts";
import type {
  EventRange,
  ReplayLeft,
  WebhookAttempt,
  WebhookFilter,
  WebhookPermitAnswer,
  WebhookPermitRequest,
} from "../../model/webhook.ts";
import type { Logger } from "../../platform/log.ts";
import type { CallHost } from "./call-webhook.ts";

/** The calls that a subscription makes to its webhook's object. Each rejects if the object does not answer. */
export interface WebhookPort {
  permit(request: WebhookPermitRequest): Promise<WebhookPermitAnswer>;
  report(attempt: WebhookAttempt): Promise<void>;
  /** A subscription does not use its permit, and asks for no other. */
  giveBack(subscriptionId: string, permit: string): Promise<void>;
  /**
   * The owner of a subscription was deleted.
   * @param at when, Unix milliseconds
   * @param replays what the subscription had not sent
   */
  lineGone(subscriptionId: string, at: number, replays: ReplayLeft[]): Promise<void>;
}

/** The owner of subscriptions: a chat, or an organization for its own events. */
export interface SubscriptionHost extends CallHost {
  kv: Pick<SyncKvStorage, "get" | "put" | "delete" | "list">;
  logger: Logger;
  /** The id of the chat or of the organization. */
  subscriptionId: string;
  /** False after the owner was deleted. Then its rows are gone too. */
  exists(): boolean;
  /** The number of the newest event; 0 if there is none. */
  newest(): number;
  /** The first events of a range that the filter lets through, in order. Reads no event outside of the range. */
  matching(range: EventRange, filter: WebhookFilter, limit: number): EventFact[];
  /** How many events of a range the filter lets through. Reads no event outside of the range. */
  count(range: EventRange, filter: WebhookFilter): number;
  webhook(id: string): WebhookPort;
  /** A wait of a subscription began or ended, of those in `Subscriptions.longWaitEnd`. */
  waitChanged?(): void;
  /** Sets the owner's alarm to `at` or earlier. */
  standBy(at: number): Promise<void>;
}
