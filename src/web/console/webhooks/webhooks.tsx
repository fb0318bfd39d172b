import type { ScreenParts } from "../location.ts";
import { SubscriptionScreen } from "./subscription-screen.tsx";
import { WebhookList } from "./webhook-list.tsx";
import { WebhookScreen } from "./webhook-screen.tsx";

/** All webhooks, one of them, or what a chat sends to it. */
export function Webhooks({ id, part: chat }: ScreenParts) {
  if (id === undefined) return <WebhookList />;
  return chat === undefined ? (
    <WebhookScreen key={id} id={id} />
  ) : (
    <SubscriptionScreen key={chat} id={id} chatId={chat} />
  );
}
