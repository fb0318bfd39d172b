/**
 * Deletion of a channel or an organization in three steps:
 *
 * 1. Mark its row in the directory. From then on nothing can be added to it.
 * 2. Delete the data of its Durable Objects, a few at a time, each before its row.
 * 3. Delete its own row.
 *
 * Each step can be repeated. If a request fails, the row still exists, and the same request continues the deletion.
 *
 * A chat has no row in the directory. Its organization's object deletes it.
 */
import { and, asc, eq, gt, inArray } from "drizzle-orm";
import { answerWithin, callObject, NEARBY } from "../calls/call-object.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { stopKeys } from "../calls/change-key.ts";
import { ownerOf } from "../calls/chat-owner.ts";
import { directory } from "../db/client.ts";
import { rowOf } from "../db/rows.ts";
import { apiKeys, channels, members, organizations, signIns, templates, waitingActs, webhooks } from "../db/schema.ts";
import type { Scope } from "../model/caller.ts";
import { ApiError, unavailable } from "../model/error.ts";
import { isId } from "../model/id.ts";
import { MAX_CONCURRENT, settleEach } from "../platform/concurrency.ts";
import { causeOf } from "../platform/log.ts";
import { presentOrganization } from "./organizations.ts";
import { type ChannelView, numbersOf, presentChannel } from "./present-channel.ts";

/** The maximum number of objects that one request deletes. */
const OBJECTS_PER_REQUEST = 500;
const ERASE_TIMEOUT_MS = 20_000;

/**
 * Deletes a chat and its messages.
 * @throws ApiError `chat_not_found`; `unavailable` if a step failed: the organization's object repeats it, or repeat the
 *   request
 */
export async function eraseChat(env: Env, scope: Scope, id: string) {
  const { organizationId } = await chatOwnerOf(env, scope, id);
  // If the platform loses the answer of `deleteChat` and the call is repeated, it finds nothing.
  const before = await callOrganization(env, organizationId, (organization) => organization.find(id));
  const deleted = await callOrganization(env, organizationId, (organization) => organization.deleteChat(id));
  const chat = deleted ?? before;
  if (!chat) throw new ApiError("chat_not_found");
  return chat;
}

/**
 * The organization whose object is asked for a chat: the one of the scope, which then does not find the chat of another
 * organization.
 * @throws ApiError `chat_not_found`
 */
export async function chatOwnerOf(env: Env, scope: Scope, chatId: string): Promise<{ organizationId: string }> {
  if (scope === "any") return ownerOf(env, chatId);
  if (!isId("cht", chatId)) throw new ApiError("chat_not_found");
  return scope;
}

/**
 * Deletes a channel and its chats.
 * @throws ApiError `unavailable` if there is more than one request can delete: repeat the request to continue
 */
export async function eraseChannel(env: Env, view: ChannelView, id: string) {
  const db = directory(env);
  const channel = await rowOf(db, view.scope, channels, id, "channel_not_found");
  const { organizationId } = channel;
  const shown = await presentChannel(env, view, channel, await numbersOf(env, channel));
  await db.update(channels).set({ erasingAt: Date.now() }).where(eq(channels.id, id));
  await callOrganization(env, organizationId, (organization) => organization.closeChannel(organizationId, id));
  const work = newWork();
  await eraseClosedChats(env, organizationId, work);
  throwFailure(work);
  await eraseChannelObject(env, id);
  await db.delete(channels).where(eq(channels.id, id));
  return shown;
}

/**
 * Deletes an organization and all its data, keys first. The mark stops keys whose objects have no record yet. Any other
 * key stops when its object is notified. If a key's object can't be reached, it can accept requests until the deletion is
 * repeated, or for at most a minute until it reads the directory again. An object that can't be deleted stops none of the
 * others.
 * @throws ApiError `unavailable` if an object can't be erased: repeat the request
 * @throws ApiError `unavailable` if there is more than one request can delete: repeat the request to continue
 */
export async function eraseOrganization(env: Env, id: string) {
  const db = directory(env);
  const organization = await rowOf(db, "any", organizations, id, "organization_not_found");
  const erasingAt = Date.now();
  // From the mark on, each request of the console reads the directory.
  await callOrganization(env, id, (object) => object.beginMemberChange(id, crypto.randomUUID()));
  await db.batch([
    db.update(organizations).set({ erasingAt }).where(eq(organizations.id, id)),
    // Chats are added to channels, so the channels need a mark too.
    db.update(channels).set({ erasingAt }).where(eq(channels.organizationId, id)),
    db.update(webhooks).set({ erasingAt }).where(eq(webhooks.organizationId, id)),
  ]);
  const work = newWork();
  const idsOf = (table: typeof apiKeys | typeof webhooks | typeof channels) => (after: string, limit: number) =>
    db
      .select({ id: table.id })
      .from(table as typeof apiKeys)
      .where(and(eq(table.organizationId, id), gt(table.id, after)))
      .orderBy(asc(table.id))
      .limit(limit);
  const keyIds = (await idsOf(apiKeys)("", OBJECTS_PER_REQUEST)).map(({ id: keyId }) => keyId);
  const unreachable = new Map((await stopKeys(env, keyIds)).map(({ item, error }) => [item, error]));
  await eraseInSteps(work, {
    next: idsOf(apiKeys),
    erase: async (keyId) => {
      if (unreachable.has(keyId)) throw unreachable.get(keyId);
      await callObject(env.KEYS, keyId, (key) => key.erase(), NEARBY);
    },
    remove: (ids) => db.delete(apiKeys).where(inArray(apiKeys.id, ids)),
  });
  await callOrganization(env, id, (object) => object.close());
  // Before the chats: from then on, their events go nowhere.
  await eraseInSteps(work, {
    next: idsOf(webhooks),
    erase: (webhookId) => callObject(env.WEBHOOKS, webhookId, (webhook) => webhook.erase(), NEARBY),
    remove: (ids) => db.delete(webhooks).where(inArray(webhooks.id, ids)),
  });
  await eraseClosedChats(env, id, work);
  await eraseInSteps(work, {
    next: idsOf(channels),
    erase: (channelId) => eraseChannelObject(env, channelId),
    remove: (ids) => db.delete(channels).where(inArray(channels.id, ids)),
  });
  throwFailure(work);
  await callOrganization(env, id, (object) => object.eraseSearch());
  await callOrganization(env, id, (object) => object.erase());
  await db.batch([
    db.delete(templates).where(eq(templates.organizationId, id)),
    db.delete(signIns).where(eq(signIns.organizationId, id)),
    db.delete(waitingActs).where(eq(waitingActs.organizationId, id)),
    db.delete(members).where(eq(members.organizationId, id)),
    db.delete(organizations).where(eq(organizations.id, id)),
  ]);
  return presentOrganization(organization);
}

/** How many objects the current request can still delete, and the first error of those that it could not. */
interface Work {
  left: number;
  failure: unknown;
}

interface Steps {
  /** Up to `limit` of the ids that are left, in order, after one. */
  next: (after: string, limit: number) => Promise<{ id: string }[]>;
  /** Deletes the data of one object. */
  erase: (id: string) => Promise<unknown>;
  /** Deletes the rows of deleted objects. */
  remove: (ids: string[]) => Promise<unknown>;
}

function newWork(): Work {
  return { left: OBJECTS_PER_REQUEST, failure: null };
}

/** Deletes the chats of closed channels. */
async function eraseClosedChats(env: Env, organizationId: string, work: Work): Promise<void> {
  let deleted: number;
  try {
    deleted = await callOrganization(env, organizationId, (organization) => organization.deleteClosed(work.left));
  } catch (error) {
    work.failure ??= error;
    return;
  }
  if (deleted === work.left) throw moreLeft();
  work.left -= deleted;
}

/** Deletes objects and their rows. One that can't be deleted keeps its row. */
async function eraseInSteps(work: Work, { next, erase, remove }: Steps): Promise<void> {
  for (let after = ""; ; ) {
    const found = await next(after, Math.min(MAX_CONCURRENT, work.left + 1));
    if (found.length === 0) return;
    if (work.left === 0) throw moreLeft();
    const ids = found.slice(0, work.left).map(({ id }) => id);
    const failed = await settleEach(ids, (id) => answerWithin(ERASE_TIMEOUT_MS, () => erase(id)));
    for (const { item, error } of failed) {
      work.failure ??= error;
      console.warn({ event: "object_not_deleted", id: item, error: causeOf(error) });
    }
    const erased = ids.filter((id) => !failed.some(({ item }) => item === id));
    if (erased.length > 0) await remove(erased);
    work.left -= ids.length;
    after = ids.at(-1) ?? after;
  }
}

/** @throws the error of an object that could not be deleted */
function throwFailure({ failure }: Work): void {
  if (failure !== null) throw failure;
}

function eraseChannelObject(env: Env, id: string): Promise<void> {
  return callObject(env.CHANNELS, id, (channel) => channel.erase(), NEARBY);
}

function moreLeft(): ApiError {
  return unavailable(`Deleted ${OBJECTS_PER_REQUEST} objects. More may be left: repeat the request`);
}
