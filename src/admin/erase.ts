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

/**
 * Erasing, in steps that can each be repeated: first a mark in the directory, after which nothing new can join what is
 * being erased; then, a few at a time, what the objects hold, each before its row; the row that was asked for last. So
 * what breaks off is still there to be deleted again, and a repetition goes on where it broke off.
 *
 * `marked` is called once, when the mark is written: from there on something was changed, whatever becomes of the rest.
 */
const OBJECTS_A_REQUEST = 500;

const CHATS_A_MARK = 2_000;

/** Erases a chat and its messages. */
export async function eraseChat(env: Env, id: string, marked: () => void) {
  const chat = await findChatToErase(directory(env), id);
  if (!chat) throw new ApiError("chat_not_found");
  const counted = "(select channel_id from chats where id = ?1 and erasing_at is null)";
  const db = database(env);
  await db.batch([
    db.prepare(`update channels set chat_count = chat_count - 1 where id = ${counted}`).bind(id),
    db.prepare("update chats set erasing_at = ?2 where id = ?1 and erasing_at is null").bind(id, Date.now()),
  ]);
  marked();
  await eraseChatObject(env, id);
  await callObject(env.CHANNELS, chat.channel.id, (channel) => channel.gone(id));
  await deleteChats(env, [id]);
  return chat;
}

/**
 * Erases a channel, its chats and what waits in them.
 * @throws ApiError `unavailable` when more is left than one request erases: the same request goes on
 */
export async function eraseChannel(env: Env, origin: string, id: string, marked: () => void) {
  const db = directory(env);
  const channel = await rowOf(db, channels, id, "channel_not_found");
  await db.update(channels).set({ erasingAt: Date.now() }).where(eq(channels.id, id));
  marked();
  await markChats(env, id);
  await eraseAllChats(env, db, eq(chats.channelId, id), { left: OBJECTS_A_REQUEST });
  await eraseChannelObject(env, id);
  await db.delete(channels).where(eq(channels.id, id));
  return presentChannel(env, origin, channel);
}

/**
 * Erases an organization and all that it holds. The mark alone refuses keys that no object knows yet; a key that its
 * object knows is refused from the moment at which that is erased, and those go first. One whose object could not be
 * reached may be admitted until the deletion is repeated, or until it asks the directory again, after a minute of use.
 * @throws ApiError `unavailable` when more is left than one request erases: the same request goes on
 */
export async function eraseOrganization(env: Env, id: string, marked: () => void) {
  const db = directory(env);
  const organization = await rowOf(db, organizations, id, "organization_not_found");
  const erasingAt = Date.now();
  await db.batch([
    db.update(organizations).set({ erasingAt }).where(eq(organizations.id, id)),
    // Chats join a channel, not the organization, so that it too must refuse them.
    db.update(channels).set({ erasingAt }).where(eq(channels.organizationId, id)),
  ]);
  marked();
  const work = { left: OBJECTS_A_REQUEST };
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
 * Marks a channel's chats, which takes them out of the part of the indexes that lists of chats walk. The channel's own
 * mark already hides the chats. A few thousand at a time, because a statement holds up all others.
 */
async function markChats(env: Env, channelId: string): Promise<void> {
  const statement = database(env)
    .prepare(
      `update chats set erasing_at = ?2 where id in
         (select id from chats where channel_id = ?1 and erasing_at is null order by active_at desc limit ?3)`,
    )
    .bind(channelId, Date.now(), CHATS_A_MARK);
  for (;;) {
    const { meta } = await statement.run();
    if (meta.changes < CHATS_A_MARK) return;
  }
}

function eraseAllChats(env: Env, db: Directory, of: ReturnType<typeof eq>, work: Work): Promise<void> {
  return eraseInSteps(work, {
    next: (limit) => db.select({ id: chats.id }).from(chats).where(of).limit(limit),
    erase: (chatId) => eraseChatObject(env, chatId),
    remove: (ids) => deleteChats(env, ids),
  });
}

/** How many objects the running request may still erase. */
interface Work {
  left: number;
}

interface Steps {
  /** Up to `limit` of what is left. */
  next: (limit: number) => Promise<{ id: string }[]>;
  /** Erases what one object holds. */
  erase: (id: string) => Promise<unknown>;
  /** Deletes the rows of erased objects. */
  remove: (ids: string[]) => Promise<unknown>;
}

async function eraseInSteps(work: Work, { next, erase, remove }: Steps): Promise<void> {
  for (;;) {
    const found = await next(Math.min(MAX_CONCURRENT, work.left + 1));
    if (found.length === 0) return;
    if (work.left === 0) throw unavailable(`erased ${OBJECTS_A_REQUEST} objects, more are left: repeat the request`);
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

/** Deletes the rows of chats. One that was marked by itself is not counted any more. */
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
