// The package's `parley/client`.
export { ParleyError } from "./error.ts";
export type { EventData, FollowedEvent, ParleyEvent, TypingEvent, WebhookEvent } from "./event.ts";
export type { EventOptions } from "./follow-events.ts";
export type { FileLike, MediaDownload, MediaOptions } from "./media.ts";
export {
  type ApiSchemas,
  type ChatListOptions,
  dataOf,
  type FoundMessage,
  type MessageListOptions,
  type MessageSearchOptions,
  Parley,
  type ParleyOptions,
  type SendOptions,
  type UploadOptions,
} from "./parley.ts";
export { type HeadersLike, verifyWebhook, WebhookVerificationError } from "./verify-webhook.ts";
