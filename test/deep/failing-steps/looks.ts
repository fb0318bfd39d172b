import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Message } from "../../../src/chats/message.ts";
import { unwatched } from "./steps.ts";

/** The stored data of a chat's object: its messages, and whether its alarm is set. */
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
 * Runs an object's alarm like the platform: the alarm is removed while it runs, and set again if it throws. Reading the
 * alarm here does not count as a step.
 * @returns whether the alarm was set
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
