import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Message } from "../../../src/chats/message.ts";
import { unwatched } from "./steps.ts";

/** What a chat's object has on disk: its messages, and whether it will wake by itself. */
export function chatOnDisk(chatId: string): Promise<{ messages: string[]; alarm: boolean }> {
  return runInDurableObject(env.CHATS.getByName(chatId), async (_object, { storage }) => {
    const hasLog = storage.sql.exec("select 1 from sqlite_master where name = 'messages'").toArray().length > 0;
    const rows = hasLog ? storage.sql.exec<{ doc: string }>("select doc from messages order by seq").toArray() : [];
    const messages = rows.map(({ doc }) => {
      const { seq, direction, text, status } = JSON.parse(doc) as Message;
      return `${seq} ${direction} ${text} ${status}`;
    });
    return { messages, alarm: (await storage.getAlarm()) !== null };
  });
}

/** The rows of a table of the directory that `where` selects. */
export async function rows(table: string, where: string, ...values: string[]): Promise<Record<string, unknown>[]> {
  const { results } = await env.DB.prepare(`select * from ${table} where ${where}`)
    .bind(...values)
    .all<Record<string, unknown>>();
  return results;
}

export async function count(table: string, where: string, ...values: string[]): Promise<number> {
  return (await rows(table, where, ...values)).length;
}

/**
 * Lets an object's alarm ring as the platform does: it is gone while it rings, and one that throws comes again. The
 * test's own look at the alarm is none of the steps.
 * @returns whether it stood
 */
export async function ring(object: DurableObjectStub<DurableObjectOf>): Promise<boolean> {
  return runInDurableObject(object, async (instance, { storage }) => {
    const at = await unwatched(() => storage.getAlarm());
    if (at === null) return false;
    await unwatched(() => storage.deleteAlarm());
    try {
      await instance.alarm?.();
    } catch (error) {
      await unwatched(() => storage.setAlarm(at));
      throw error;
    }
    return true;
  });
}

type DurableObjectOf = Rpc.DurableObjectBranded & { alarm?(): void | Promise<void> };
