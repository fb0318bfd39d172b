import type { OpenAnswer, OpenRequest } from "../../model/organization.ts";
import { ADOPT_AFTER_MS } from "./adoptions.ts";
import type { ChannelTable } from "./channel-table.ts";
import { type ChatRow, presentChat } from "./chat-row.ts";
import type { ChatTable } from "./chat-table.ts";
import type { LabelTable } from "./label-table.ts";
import type { Settings } from "./settings.ts";

/** What opening a chat needs of its organization. */
interface OpeningTables {
  channels: Pick<ChannelTable, "get">;
  chats: ChatTable;
  labels: Pick<LabelTable, "print">;
  settings: Pick<Settings, "isFull">;
}

/**
 * Creates the chat of a contact's address, or finds it. It is one step: of concurrent first messages one creates the chat.
 * @returns the answer, and when the alarm must adopt the chat, Unix milliseconds; null if it need not
 */
export function openForContact(
  { channels, chats, labels, settings }: OpeningTables,
  request: OpenRequest,
  now: number,
): { answer: OpenAnswer; adoptAt: number | null } {
  const { organizationId, channelId, address, others, alike, username, isLimited } = request;
  const refused = (answer: OpenAnswer) => ({ answer, adoptAt: null });
  const channel = channels.get(channelId);
  if (!channel || channel.isClosed) return refused({ outcome: "no_channel" });
  const opened = (row: ChatRow, created: boolean): OpenAnswer => {
    const identity = chats.identityOf(organizationId, channel, row);
    return { outcome: "opened", chat: presentChat(row, channel, labels), identity, created };
  };
  const found = chats.byAddress(channelId, [address, ...others], alike);
  if (found?.state === "deleting") return refused({ outcome: "deleting", chatId: found.id });
  if (found) {
    const row = chats.learn(found, [address, ...others], username);
    // The first call may have created the chat and lost the alarm.
    const adoptAt = row.state === "created" ? Math.max(row.created_at + ADOPT_AFTER_MS, now) : null;
    return { answer: opened(row, false), adoptAt };
  }
  if (isLimited && settings.isFull(channel)) return refused({ outcome: "chat_limit" });
  const row = chats.create(channel, request, now);
  return { answer: opened(row, true), adoptAt: now + ADOPT_AFTER_MS };
}
