import { statsOf } from "../../support/harness.ts";
import { untilQueueIsEmpty } from "../../support/message-status.ts";
import { type Conversation, pass } from "../chats/object/delivery/conversation.ts";

export const NO_ATTEMPTS = { sent: 0, retry: 0, failed: 0, unknown: 0, moved: 0, channel_broken: 0 };
export const NO_QUEUE = { depth: 0, oldest: null, ageSeconds: null };

/** The statistics of a conversation's channel; every organization has a web channel before it. */
export async function channelStats({ organizationId, channelId }: Conversation) {
  const { channels } = await statsOf(organizationId);
  return channels.find(({ id }: { id: string }) => id === channelId);
}

/** Runs the chat's alarm when its next report is due. */
export async function report(chat: Pick<Conversation, "run">): Promise<void> {
  pass(5_000);
  await chat.run();
}

/** Waits until the network has accepted all messages. An alarm that rings after that reports early. */
export async function delivered(chat: Conversation): Promise<void> {
  await untilQueueIsEmpty(chat.chatId);
}
