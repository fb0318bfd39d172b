import * as z from "zod/mini";
import { directory } from "../db/client.ts";
import { placeOf, placeParameters } from "../http/pagination.ts";
import { fault, queryText } from "../http/validation.ts";
import { listChats } from "./directory.ts";

const DEEPEST = 10_000;

const { page, limit, before } = placeParameters;

/** The query of `GET /chats`. */
export const chatsQuery = z.object({
  page,
  limit,
  before,
  channel: z.optional(queryText(64)),
  contact: z.optional(queryText(256)),
});

/**
 * An organization's chats, latest activity first.
 * @throws ApiError `validation_failed` for a page that begins past 10,000 chats: the walk that finds it costs as much
 *   as all before it, while `before` costs the same at any depth
 */
export async function listChatsBy(env: Env, organizationId: string, query: z.output<typeof chatsQuery>) {
  const place = placeOf(query);
  if ("after" in place) throw new TypeError("chats have no after");
  if ("page" in place && (place.page - 1) * place.limit >= DEEPEST) {
    throw fault("page", `begins past ${DEEPEST} chats; walk with before, the id of the last chat that you have`);
  }
  return listChats(directory(env), organizationId, { channel: query.channel, contact: query.contact }, place);
}
