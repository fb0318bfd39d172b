import * as z from "zod/mini";
import { BoundedMap } from "../bounded-map.ts";
import { directory } from "../db/client.ts";
import { queryText } from "../http/fields.ts";
import { placeOf, placeParameters } from "../http/pagination.ts";
import { fault, readQuery } from "../http/validation.ts";
import { keptPerEnv } from "../kept.ts";
import type { ChatsContext } from "./context.ts";
import { listChats } from "./directory.ts";

const DEEPEST = 10_000;

/** The query of `GET /chats`. */
export const chatsQuery = z.object({
  ...placeParameters,
  channel: z.optional(queryText(64)),
  contact: z.optional(queryText(256)),
});

/** Which keys have listed chats here, and whose: such a key's next list is begun while the key is asked. */
const readers = keptPerEnv(() => new BoundedMap<string, string>(10_000));

/** The chats that a request asks for. @throws ApiError as `listChatsBy`, and for a query that is none */
export async function readChats(c: ChatsContext): ReturnType<typeof listChats> {
  const { organizationId } = c.get("caller");
  const chats = await (c.get("chats") ?? listChatsBy(c.env, organizationId, readQuery(c, chatsQuery)));
  readers(c.env).set(c.get("key").hash, organizationId);
  return chats;
}

/** Begins the list of a key that has listed chats here: one hop beside the other, not after it. */
export function beginChats(c: ChatsContext): void {
  const organizationId = readers(c.env).get(c.get("key").hash);
  if (organizationId === undefined) return;
  const chats = (async () => listChatsBy(c.env, organizationId, readQuery(c, chatsQuery)))();
  // Its failure is met where the list is awaited; a key that is refused never gets there.
  chats.catch(() => {});
  c.set("chats", chats);
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
