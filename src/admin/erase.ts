import { eq, sql } from "drizzle-orm";
import { findChat } from "../chats/directory.ts";
import { type Directory, directory } from "../db/client.ts";
import { apiKeys, channels, chats, members, organizations, templates } from "../db/schema.ts";
import { unavailable } from "../http/errors.ts";
import { changeKeys } from "../keys/change.ts";
import { callObject } from "../objects.ts";
import { presentChannel } from "./channels.ts";
import { presentOrganization } from "./organizations.ts";
import { rowOf } from "./rows.ts";

/**
 * Erasing, in steps that can each be repeated: first a mark in the directory, after which nothing new can join what is
 * being erased; then what the objects hold; the directory's rows last. Whatever breaks off is still there to be
 * deleted again, and a request erases a bounded number of chats before it asks to be repeated.
 */
const CHATS_A_REQUEST = 500;
const CHATS_AT_ONCE = 20;

/** Erases a chat and its messages. */
export async function eraseChat(env: Env, id: string) {
  const db = directory(env);
  const { organizationId } = await rowOf(db, chats, id, "chat_not_found");
  const chat = await findChat(db, organizationId, id);
  await db.update(chats).set({ erasingAt: Date.now() }).where(eq(chats.id, id));
  await eraseChats(env, [id]);
  return chat;
}

/** Erases a channel, its chats and what waits in them. */
export async function eraseChannel(env: Env, origin: string, id: string) {
  const db = directory(env);
  const channel = await rowOf(db, channels, id, "channel_not_found");
  await db.update(channels).set({ erasingAt: Date.now() }).where(eq(channels.id, id));
  await eraseAllChats(env, db, eq(chats.channelId, id));
  await callObject(env.CHANNELS, id, (object) => object.erase());
  await db.delete(channels).where(eq(channels.id, id));
  return presentChannel(env, origin, channel);
}

/** Erases an organization and all that it holds. Its keys are dead with the first step. */
export async function eraseOrganization(env: Env, id: string) {
  const db = directory(env);
  const organization = await rowOf(db, organizations, id, "organization_not_found");
  const now = Date.now();
  await db.update(organizations).set({ erasingAt: now }).where(eq(organizations.id, id));
  const keyIds = await idsOf(db, apiKeys, id);
  await changeKeys(env, keyIds, () =>
    db.update(channels).set({ erasingAt: now }).where(eq(channels.organizationId, id)),
  );
  await eraseAllChats(env, db, eq(chats.organizationId, id));
  for (const channelId of await idsOf(db, channels, id)) {
    await callObject(env.CHANNELS, channelId, (object) => object.erase());
  }
  for (const keyId of keyIds) await callObject(env.KEYS, keyId, (object) => object.erase());
  await db.batch([
    db.delete(apiKeys).where(eq(apiKeys.organizationId, id)),
    db.delete(templates).where(eq(templates.organizationId, id)),
    db.delete(members).where(eq(members.organizationId, id)),
    db.delete(channels).where(eq(channels.organizationId, id)),
    db.delete(organizations).where(eq(organizations.id, id)),
  ]);
  return presentOrganization(organization);
}

/** @throws ApiError `unavailable` when more chats are left than one request erases: the same request goes on */
async function eraseAllChats(env: Env, db: Directory, of: ReturnType<typeof eq>): Promise<void> {
  for (let erased = 0; ; erased += CHATS_AT_ONCE) {
    const found = await db.select({ id: chats.id }).from(chats).where(of).limit(CHATS_AT_ONCE);
    if (found.length === 0) return;
    if (erased >= CHATS_A_REQUEST) throw unavailable(`erased ${erased} chats, more are left: repeat the request`);
    await eraseChats(
      env,
      found.map((chat) => chat.id),
    );
  }
}

async function eraseChats(env: Env, ids: string[]): Promise<void> {
  await Promise.all(ids.map((id) => callObject(env.CHATS, id, (chat) => chat.erase())));
  const listed = JSON.stringify(ids);
  const within = "in (select value from json_each(?1))";
  await env.DB.batch(
    [
      `update channels set chat_count = chat_count -
         (select count(*) from chats where chats.channel_id = channels.id and chats.id ${within})
       where id in (select channel_id from chats where id ${within})`,
      `delete from chat_addresses where chat_id ${within}`,
      `delete from chats where id ${within}`,
    ].map((statement) => env.DB.prepare(statement).bind(listed)),
  );
}

async function idsOf(
  db: Directory,
  table: typeof apiKeys | typeof channels,
  organizationId: string,
): Promise<string[]> {
  const rows = await db.select({ id: table.id }).from(table).where(sql`${table.organizationId} = ${organizationId}`);
  return rows.map((row) => row.id);
}
