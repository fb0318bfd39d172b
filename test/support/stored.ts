import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { alarmAt } from "./alarms.ts";

/** All stored data of an object as JSON: the rows of its tables, and its keys and values. */
export async function storedBy(object: DurableObjectStub): Promise<string> {
  return JSON.stringify(await runInDurableObject(object, (_object, { storage }) => everythingIn(storage)));
}

function everythingIn({ sql, kv }: DurableObjectStorage): unknown[] {
  const tables = sql.exec<{ name: string }>("select name from sqlite_master where type = 'table'").toArray();
  const rows = tables
    .filter(({ name }) => !name.startsWith("_cf"))
    .map(({ name }) => sql.exec(`select * from "${name}"`).toArray());
  return [...rows, ...kv.list()];
}

/** The result of `heldBy` for an object without data. */
export const NOTHING = { values: [], tables: [], alarm: null };

/** An object's stored values, the names of its tables, and its alarm. */
export async function heldBy(object: DurableObjectStub) {
  const alarm = await alarmAt(object);
  const stored = await runInDurableObject(object, (_object, { storage }) => ({
    values: [...storage.kv.list()],
    tables: storage.sql.exec("select name from sqlite_master where name not like '_cf%'").toArray(),
  }));
  return { ...stored, alarm };
}

/** What an organization's object stores of a chat. Times are Unix milliseconds. */
export type StoredChat = {
  state: "created" | "adopted" | "deleting";
  life: number;
  active_at: number | null;
  last_message_at: number | null;
  /** JSON. */
  last_message: string | null;
  unanswered_since: number | null;
  report: number;
  depth: number;
  oldest: number | null;
  /** JSON. */
  attempts: string;
};

/** What an organization's object stores of a chat; undefined if it stores nothing of it. */
export function storedChat(organizationId: string, chatId: string): Promise<StoredChat | undefined> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) => {
    const [row] = storage.sql.exec<StoredChat>("select * from chats where id = ?", chatId);
    return row;
  });
}
