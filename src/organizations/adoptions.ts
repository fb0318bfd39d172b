import { causeOf } from "../log.ts";
import { callObject } from "../platform/call-object.ts";
import type { ChannelTable } from "./channel-table.ts";
import { type ChatTable, identityOf } from "./chat-table.ts";

/** A chat adopts itself at once or with its first message. If its creator was interrupted, it is adopted after this time. */
export const ADOPT_AFTER_MS = 60_000;
const ADOPT_AT_ONCE = 20;

/** Adopts chats of an organization whose creation was interrupted. Logs a failure. */
export async function adoptChats(
  env: Env,
  organizationId: string,
  chats: ChatTable,
  channels: ChannelTable,
): Promise<void> {
  const rows = chats.created(Date.now() - ADOPT_AFTER_MS + 1, ADOPT_AT_ONCE);
  await Promise.all(
    rows.map(async (row) => {
      const channel = channels.get(row.channel_id);
      if (!channel) return;
      const identity = identityOf(organizationId, channel, row);
      try {
        await callObject(env.CHATS, row.id, (chat) => chat.adopt(identity));
        chats.adopted(row.id, row.life);
      } catch (error) {
        console.warn({ event: "chat_not_adopted", chatId: row.id, error: causeOf(error) });
      }
    }),
  );
}

/** When chats must be adopted next, but not before `notBefore`; null if none waits. Unix milliseconds. */
export function adoptionDueAt(chats: Pick<ChatTable, "oldestCreated">, notBefore: number): number | null {
  const createdAt = chats.oldestCreated();
  return createdAt === null ? null : Math.max(createdAt + ADOPT_AFTER_MS, notBefore);
}
