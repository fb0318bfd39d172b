import { expect } from "vitest";
import type { Chat } from "../../../../src/model/chat.ts";
import { team } from "../../../service/chats/assignment-fixtures.ts";
import type { Client } from "../../../support/harness.ts";

/**
 * A team with 25,000 chats. Every second one is Ann's, every third one is closed, and each waits.
 * @param column of the table of chats that the filter of a list reads
 * @param value what SQL makes of `n`, the chat's number
 */
export async function crowdWith(column: string, value: string) {
  const place = await team();
  const { channelId, newChat: anyChat, rows, ann } = place;
  await anyChat();
  await rows(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 25000)
    insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at, unanswered_since, assignee,
      work_state, ${column})
    select printf('cht_g%015d', n), '${channelId}', 'adopted', 1, 'contact ' || n, '{}', 1, n, n,
      iif(n % 2 = 0, '${ann}', null), iif(n % 3 = 0, 'closed', 'open'), ${value} from numbers`);
  await rows("update channels set chats = 25001, unanswered = 25000");
  return place;
}

/** The id of a chat of the crowd, by its number. */
export const idOf = (n: number) => `cht_g${String(n).padStart(15, "0")}`;

/** The ids of those chats of the crowd whose number `isIts`, the latest one first. */
export function idsOfCrowd(isIts: (n: number) => boolean): string[] {
  return Array.from({ length: 25_000 }, (_, n) => 25_000 - n)
    .filter(isIts)
    .map(idOf);
}

/** The ids that a walk of a list brings, in which no chat moves. */
export async function walked(api: Client, query: string): Promise<string[]> {
  const found: string[] = [];
  for (let [pages, from] = [0, ""]; ; pages++) {
    const { chats, pagination } = (await api("GET", `/chats?limit=100&${query}${from}`)).body;
    found.push(...chats.map(({ id }: Chat) => id));
    expect(pagination).not.toHaveProperty("hasNewer");
    if (!pagination.hasMore) return found;
    from = `&before=${pagination.cursor}`;
    expect(pages).toBeLessThan(60);
  }
}
