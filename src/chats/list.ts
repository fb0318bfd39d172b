import * as z from "zod/mini";
import { directory } from "../db/client.ts";
import { queryText } from "../http/fields.ts";
import { placeOf, placeParameters } from "../http/pagination.ts";
import { fault } from "../http/validation.ts";
import { listChats } from "./directory.ts";

const DEEPEST = 10_000;

/** The query of `GET /chats`. */
export const chatsQuery = z.object({
  ...placeParameters,
  channel: z.optional(queryText(64)),
  contact: z.optional(queryText(256)),
});

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
