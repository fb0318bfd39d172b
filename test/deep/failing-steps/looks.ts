import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Message } from "../../../src/model/message.ts";
import { workIsDone } from "../../support/alarms.ts";
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

/** What an organization's object stores of the chats of an address, and the number of chats in the address's channel. */
export function chatsOf(
  { organizationId, channelId }: { organizationId: string; channelId: string },
  address: string,
): Promise<{ ids: string[]; states: string[]; addresses: number; counted: number }> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage: { sql } }) => {
    if (sql.exec("select 1 from sqlite_master where name = 'chats'").toArray().length === 0) {
      return { ids: [], states: [], addresses: 0, counted: 0 };
    }
    const found = sql
      .exec<{ id: string; state: string }>(
        "select id, state from chats where channel_id = ? and address = ? order by id",
        channelId,
        address,
      )
      .toArray();
    const owned = sql.exec("select 1 from addresses where channel_id = ? and address = ?", channelId, address);
    const [channel] = sql.exec<{ chats: number }>("select chats from channels where id = ?", channelId);
    return {
      ids: found.map(({ id }) => id),
      states: found.map(({ state }) => state),
      addresses: owned.toArray().length,
      counted: channel?.chats ?? 0,
    };
  });
}

/** An entry of the audit log, as it is stored. */
interface StoredEntry extends Record<string, SqlStorageValue> {
  action: string;
  target: string | null;
  status: number | null;
  request_id: string;
}

/** The entries of an organization's audit log, oldest first. */
export function entriesOf(organizationId: string): Promise<StoredEntry[]> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage: { sql } }) => {
    if (sql.exec("select 1 from sqlite_master where name = 'audit'").toArray().length === 0) return [];
    return sql.exec<StoredEntry>("select action, target, status, request_id from audit order by id").toArray();
  });
}

/**
 * Runs an object's alarm like the platform: the alarm is removed while it runs, and set again if it throws. Reading the
 * alarm here does not count as a step.
 * @returns whether the alarm was set
 */
export async function ring(object: DurableObjectStub<DurableObjectOf>): Promise<boolean> {
  try {
    return await runInDurableObject(object, async (instance, { storage }) => {
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
  } finally {
    // An alarm that takes long ends, and leaves the rest of its work behind.
    await workIsDone(object);
  }
}

type DurableObjectOf = Rpc.DurableObjectBranded & { alarm?(): void | Promise<void> };
