import * as z from "zod/mini";
import { BoundedMap } from "../bounded-map.ts";
import { directory } from "../db/client.ts";
import { queryText } from "../http/fields.ts";
import { type TaggedJson, tagged } from "../http/json.ts";
import { placeOf, placeParameters } from "../http/pagination.ts";
import { fault, readQuery } from "../http/validation.ts";
import { JoinedCalls } from "../joined-calls.ts";
import { keptPerEnv } from "../kept.ts";
import type { ChatsContext } from "./context.ts";
import { listChats } from "./directory.ts";

export const DEEPEST = 10_000;

/** The query of `GET /chats`. */
export const chatsQuery = z.object({
  ...placeParameters,
  channel: z.optional(queryText(64)),
  contact: z.optional(queryText(256)),
});

const kept = keptPerEnv(() => ({
  calls: new JoinedCalls<null, TaggedJson>(),
  /** Which keys have listed chats here, and whose: such a key's next list is begun while the key is asked. */
  readers: new BoundedMap<string, string>(10_000),
}));

/** The list that a request asks for. @throws ApiError as `listChatsBy`, and for a query that is none */
export async function readChats(c: ChatsContext): Promise<TaggedJson> {
  const { organizationId } = c.get("caller");
  const chats = await (c.get("chats") ?? joinedList(c, organizationId));
  kept(c.env).readers.set(c.get("key").hash, organizationId);
  return chats;
}

/** Begins the list of a key that has listed chats here: one hop beside the other, not after it. */
export function beginChats(c: ChatsContext): void {
  const organizationId = kept(c.env).readers.get(c.get("key").hash);
  if (organizationId === undefined) return;
  const chats = joinedList(c, organizationId);
  // Its failure is met where the list is awaited; a key that is refused never gets there.
  chats.catch(() => {});
  c.set("chats", chats);
}

/** Requests for the same list that wait at the same time share one round trip. */
async function joinedList(c: ChatsContext, organizationId: string): Promise<TaggedJson> {
  const query = readQuery(c, chatsQuery);
  return kept(c.env).calls.ask(c.executionCtx, `${organizationId} ${JSON.stringify(query)}`, null, async (all) => {
    const chats = await tagged(JSON.stringify(await listChatsBy(c.env, organizationId, query)));
    return all.map(() => chats);
  });
}

/**
 * An organization's chats, latest activity first.
 * @throws ApiError `validation_failed` for `after`: what is newer than a place in this order is at its front; and for a
 *   page that begins past 10,000 chats: the walk that finds it costs as much as all before it, while `before` costs the
 *   same at any depth
 */
export async function listChatsBy(env: Env, organizationId: string, query: z.output<typeof chatsQuery>) {
  const { page, limit, before, after, channel, contact } = query;
  if (after !== undefined) throw fault("after", "is no place in a list of chats; walk with before, or read page 1");
  const place = placeOf({ page, limit, before });
  if ("page" in place && (place.page - 1) * place.limit >= DEEPEST) {
    throw fault("page", `begins past ${DEEPEST} chats; walk with before, the id of the last chat that you have`);
  }
  return listChats(directory(env), organizationId, { channel, contact }, place);
}
