import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { messageId } from "../../../src/model/id.ts";
import type { Message } from "../../../src/model/message.ts";
import { runAlarm, workIsDone } from "../../support/alarms.ts";
import type { Answer } from "../../support/harness.ts";
import { rowsRead } from "../../support/rows-read.ts";

export function idsOf(answer: Answer): string[] {
  expect(answer.status, answer.text).toBe(200);
  return answer.body.messages.map(({ id }: Message) => id);
}

/** Writes messages into the chat's object behind its newest one: each is `like`, with some fields of its own. */
export async function fill(chatId: string, like: Message, own: Partial<Message>[]): Promise<void> {
  const object = env.CHATS.getByName(chatId);
  // The report of what was sent before would read all of them, amid what a test counts.
  await runAlarm(object);
  await runInDurableObject(object, (_object, { storage }) => {
    const { newest } = storage.sql.exec<{ newest: number }>("select max(seq) as newest from messages").one();
    for (const [at, fields] of own.entries()) {
      const seq = newest + 1 + at;
      const doc = JSON.stringify({ ...like, id: messageId(like.id.slice(0, 20), seq), seq, ...fields });
      storage.sql.exec("insert into messages (seq, doc) values (?, ?)", seq, doc);
    }
  });
  await evictDurableObject(object);
  // The first call finds that no alarm is set for the report of these. So they are reported before it.
  await runInDurableObject(object, (chat) => (chat as DurableObject).alarm?.());
  await workIsDone(object);
  await evictDurableObject(object);
}

/** Reads up to five pages, each by the cursor of the one before. No page examines more than 10,000 messages. */
export async function walk(chatId: string, page: (more: string) => Promise<Answer>) {
  const pages: { ids: string[]; hasMore: boolean }[] = [];
  for (let cursor: string | null = ""; cursor !== null && pages.length < 5; ) {
    let answer: Answer | undefined;
    const more = cursor && `&before=${cursor}`;
    const rows = await rowsRead(env.CHATS.getByName(chatId), async () => {
      answer = await page(more);
    });
    // An instance also reads once which tables there are.
    expect(rows.reduce((sum, each) => sum + each, 0)).toBeLessThan(10_030);
    const { hasMore, cursor: next } = (answer as Answer).body.pagination;
    pages.push({ ids: idsOf(answer as Answer), hasMore });
    cursor = next;
  }
  return pages;
}
