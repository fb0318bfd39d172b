/**
 * Deletion in three steps:
 *
 * 1. Mark the resource in the directory. From then on nothing can be added to it.
 * 2. Erase the data of its Durable Objects, a few at a time, each before its row.
 * 3. Delete the resource's own row.
 *
 * Each step can be repeated. If a request fails, the row still exists, and the same request continues the deletion.
 * `onMarked` is called once, after step 1: data has changed, even if a later step fails.
 */
import { eq, inArray } from "drizzle-orm";
import { findChatToErase } from "../chats/directory.ts";
import { type Directory, database, directory } from "../db/client.ts";
import { apiKeys, channels, chats, members, organizations, templates } from "../db/schema.ts";
import { ApiError, unavailable } from "../http/errors.ts";
import { callObject } from "../platform/call-object.ts";
import { forEachInBatches, MAX_CONCURRENT } from "../platform/concurrency.ts";
import { presentChannel } from "./channels.ts";
import { presentOrganization } from "./organizations.ts";
import { rowOf } from "./rows.ts";

/** The maximum number of objects that one request erases. */
const OBJECTS_PER_REQUEST = 500;

const CHATS_PER_STATEMENT = 2_000;

/** Erases a chat and its messages. */
export async function eraseChat(env: Env, id: string, onMarked: () => void) {
  const chat = await findChatToErase(directory(env), id);
  if (!chat) throw new ApiError("chat_not_found");
  const counted = "(select channel_id from chats where id = ?1 and erasing_at is null)";
  const db = database(env);
  await db.batch([
    db.prepare(`update channels set chat_count = chat_count - 1 where id = ${counted}`).bind(id),
    db.prepare("update chats set erasing_at = ?2 where id = ?1 and erasing_at is null").bind(id, Date.now()),
  ]);
  onMarked();
  await eraseChatObject(env, id);
  await callObject(env.CHANNELS, chat.channel.id, (channel) => channel.removeChat(id));
  await deleteChats(env, [id]);
  return chat;
}

/**
 * Erases a channel and its chats.
 * @throws ApiError `unavailable` if there is more than one request can erase: repeat the request to continue
 */
export async function eraseChannel(env: Env, origin: string, id: string, onMarked: () => void) {
  const db = directory(env);
  const channel = await rowOf(db, channels, id, "channel_not_found");
  await db.update(channels).set({ erasingAt: Date.now() }).where(eq(channels.id, id));
  onMarked();
  await markChats(env, id);
  await eraseAllChats(env, db, eq(chats.channelId, id), { left: OBJECTS_PER_REQUEST });
  await eraseChannelObject(env, id);
  await db.delete(channels).where(eq(channels.id, id));
  return presentChannel(env, origin, channel);
}

/**
 * Erases an organization and all its data, keys first. The mark stops keys whose objects have no record yet. Any other
 * key stops when its object is erased. If a key's object can't be reached, it can accept requests until the deletion is
 * repeated, or for at most a minute until it reads the directory again.
 * @throws ApiError `unavailable` if there is more than one request can erase: repeat the request to continue
 */
export async function eraseOrganization(env: Env, id: string, onMarked: () => void) {
  const db = directory(env);
  const organization = await rowOf(db, organizations, id, "organization_not_found");
  const erasingAt = Date.now();
  await db.batch([
    db.update(organizations).set({ erasingAt }).where(eq(organizations.id, id)),
    // Chats are added to channels, so the channels need a mark too.
    db.update(channels).set({ erasingAt }).where(eq(channels.organizationId, id)),
  ]);
  onMarked();
  const work = { left: OBJECTS_PER_REQUEST };
  await eraseInSteps(work, {
    next: (limit) => db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.organizationId, id)).limit(limit),
    erase: (keyId) => callObject(env.KEYS, keyId, (key) => key.erase()),
    remove: (ids) => db.delete(apiKeys).where(inArray(apiKeys.id, ids)),
  });
  await eraseAllChats(env, db, eq(chats.organizationId, id), work);
  await eraseInSteps(work, {
    next: (limit) => db.select({ id: channels.id }).from(channels).where(eq(channels.organizationId, id)).limit(limit),
    erase: (channelId) => eraseChannelObject(env, channelId),
    remove: (ids) => db.delete(channels).where(inArray(channels.id, ids)),
  });
  await db.batch([
    db.delete(templates).where(eq(templates.organizationId, id)),
    db.delete(members).where(eq(members.organizationId, id)),
    db.delete(organizations).where(eq(organizations.id, id)),
  ]);
  return presentOrganization(organization);
}

/**
 * Marks a channel's chats. The channel's own mark already hides them; this removes them from the partial indexes that
 * lists of chats read. A few thousand at a time, because a statement blocks all others.
 */
async function markChats(env: Env, channelId: string): Promise<void> {
  const statement = database(env)
    .prepare(
      `update chats set erasing_at = ?2 where id in
         (select id from chats where channel_id = ?1 and erasing_at is null order by active_at desc limit ?3)`,
    )
    .bind(channelId, Date.now(), CHATS_PER_STATEMENT);
  for (;;) {
    const { meta } = await statement.run();
    if (meta.changes < CHATS_PER_STATEMENT) return;
  }
}

function eraseAllChats(env: Env, db: Directory, of: ReturnType<typeof eq>, work: Work): Promise<void> {
  return eraseInSteps(work, {
    next: (limit) => db.select({ id: chats.id }).from(chats).where(of).limit(limit),
    erase: (chatId) => eraseChatObject(env, chatId),
    remove: (ids) => deleteChats(env, ids),
  });
}

/** How many objects the current request can still erase. */
interface Work {
  left: number;
}

interface Steps {
  /** Up to `limit` of the ids that are left. */
  next: (limit: number) => Promise<{ id: string }[]>;
  /** Erases the data of one object. */
  erase: (id: string) => Promise<unknown>;
  /** Deletes the rows of erased objects. */
  remove: (ids: string[]) => Promise<unknown>;
}

async function eraseInSteps(work: Work, { next, erase, remove }: Steps): Promise<void> {
  for (;;) {
    const found = await next(Math.min(MAX_CONCURRENT, work.left + 1));
    if (found.length === 0) return;
    if (work.left === 0) throw unavailable(`Erased ${OBJECTS_PER_REQUEST} objects. More are left: repeat the request`);
    const ids = found.slice(0, work.left).map(({ id }) => id);
    await forEachInBatches(ids, erase);
    await remove(ids);
    work.left -= ids.length;
  }
}

function eraseChatObject(env: Env, id: string): Promise<void> {
  return callObject(env.CHATS, id, (chat) => chat.erase());
}

function eraseChannelObject(env: Env, id: string): Promise<void> {
  return callObject(env.CHANNELS, id, (channel) => channel.erase());
}

/** Deletes the rows of chats. A chat with its own mark has already left its channel's count. */
async function deleteChats(env: Env, ids: string[]): Promise<void> {
  const listed = JSON.stringify(ids);
  const within = "in (select value from json_each(?1))";
  const db = database(env);
  await db.batch(
    [
      `update channels set chat_count = chat_count - (select count(*) from chats
         where chats.channel_id = channels.id and chats.erasing_at is null and chats.id ${within})
       where id in (select channel_id from chats where id ${within})`,
      `delete from chat_addresses where chat_id ${within}`,
      `delete from chats where id ${within}`,
    ].map((statement) => db.prepare(statement).bind(listed)),
  );
}
