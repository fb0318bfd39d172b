import * as z from "zod/mini";
import { SingleFlight } from "../calls/batched-calls.ts";
import type { Owner } from "../calls/call-chat.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { addressForms, CHANNEL_KINDS } from "../channels/kinds.ts";
import type { JsonWithETag } from "../http/etag.ts";
import { positionOf, positionParameters } from "../http/pagination.ts";
import { fault, readQuery } from "../http/validation.ts";
import type { Caller } from "../model/caller.ts";
import { MAX_PERSON_ID } from "../model/chat.ts";
import { MAX_PLACE, parseSearch } from "../model/contact-search.ts";
import { ApiError } from "../model/error.ts";
import { atMost, onlyTrue, queryText } from "../model/field.ts";
import { HANDLERS } from "../model/handover.ts";
import { isId } from "../model/id.ts";
import type { ChatPosition, Waiting, WaitingPosition } from "../model/organization.ts";
import { canReadMessages } from "../model/withheld.ts";
import { WORK_STATES } from "../model/work-state.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import type { ChatsContext } from "./context.ts";
import { PageCache } from "./page-cache.ts";
import { finishReadAhead, startReadAhead } from "./read-ahead.ts";

export const MAX_OFFSET = 10_000;
const MAX_SEARCH = 100;
const MAX_LABEL_ID = 64;

const isChannel = (text: string) => CHANNEL_KINDS.some((kind) => kind === text) || isId("chn", text);

/** A channel's id, or a kind of channels. */
export const channelFilter = z
  .string()
  .check(z.refine((text) => text !== "", { error: "must not be empty", abort: true }))
  .check(z.refine(isChannel, "must be a channel's id or kind"));

/** Nobody, as the filter `assignee`. */
const NOBODY = "none";
/** A member's id, or nobody. `assigneeIn` reads it. */
export const assigneeFilter = z
  .string()
  .check(z.refine((text) => text === NOBODY || isId("mbr", text), "must be a member's id, or none"));

const memberId = z.string().check(z.refine((text) => isId("mbr", text), "must be a member's id"));

const searchText = z.string().check(
  z.minLength(1, { error: "must not be empty", abort: true }),
  ...atMost(MAX_SEARCH),
  z.refine((text) => parseSearch(text) !== null, "must have a letter, a digit or another visible character"),
);

/** The query of `GET /chats`. */
export const chatsQuery = z.object({
  ...positionParameters,
  before: queryText(MAX_PLACE),
  after: queryText(MAX_PLACE),
  channel: z.optional(channelFilter),
  contact: z.optional(queryText(256)),
  unanswered: z.optional(onlyTrue),
  scheduled: z.optional(onlyTrue),
  search: z.optional(searchText),
  assignee: z.optional(assigneeFilter),
  state: z.optional(z.enum(WORK_STATES)),
  handler: z.optional(z.enum(HANDLERS)),
  person: queryText(MAX_PERSON_ID),
  label: queryText(MAX_LABEL_ID),
  optedOut: z.optional(onlyTrue),
  mentioned: z.optional(memberId),
});

type Query = z.output<typeof chatsQuery>;

const lists = perIsolate(() => ({
  calls: new SingleFlight<JsonWithETag>(),
  pages: new PageCache({ maxBytes: 16_777_216, maxPageBytes: 131_072 }),
}));

/**
 * Reads the list that a request asks for.
 * @throws ApiError as `listChats`; `validation_failed` for its query; `permission_denied` if it asks for mentions without
 *   the permission
 */
export function readChats(c: ChatsContext): Promise<JsonWithETag> {
  return finishReadAhead(c, "chats", (caller) => sharedList(c, caller));
}

export function readChatsAhead(c: ChatsContext): void {
  startReadAhead(c, "chats", (caller) => sharedList(c, caller));
}

/** Concurrent requests for the same list share one call. */
async function sharedList(c: ChatsContext, caller: Caller): Promise<JsonWithETag> {
  const query = readQuery(c, chatsQuery);
  if (query.mentioned !== undefined && !caller.permissions.includes("notes:read")) {
    throw new ApiError("permission_denied", { text: "The filter mentioned needs the permission notes:read" });
  }
  const hasLastMessage = canReadMessages(caller);
  const name = JSON.stringify([caller.organizationId, hasLastMessage, query]);
  return lists(c.env).calls.ask(c.executionCtx, name, () => listChats(c.env, caller, query, hasLastMessage));
}

/**
 * An organization's chats in one call of its object, which sends a cached first page only if something changed.
 * @param hasLastMessage whether the reader may see the last messages
 * @throws ApiError `validation_failed` as `positionIn`, and for a cursor that is not of this list
 */
export async function listChats(
  env: Env,
  { organizationId, region }: Owner,
  query: Query,
  hasLastMessage: boolean,
): Promise<JsonWithETag> {
  const { channel, contact, search, state, handler, person, label, mentioned } = query;
  const waiting = waitingFor(query);
  const assignee = assigneeIn(query.assignee);
  const filter = filterIn(query, waiting);
  const position = filter === undefined ? positionIn(query) : walkPositionIn(query, filter);
  const isStart = "after" in position ? position.after === null : "page" in position && position.page === 1;
  const isCached = isStart && !givenOf(query, ["contact", "search", "person", "label", "mentioned"]);
  const name = isCached ? JSON.stringify([organizationId, hasLastMessage, query]) : null;
  const contactForms = contact === undefined ? undefined : addressForms(contact);
  const chosen = { channel, contact, contactForms, waiting, search, assignee, state };
  const narrowed = { handler, person, label, optedOut: query.optedOut && (true as const), mentioned };
  const method = Object.values(narrowed).some((one) => one !== undefined) ? "listNarrowed" : "list";
  const list = await lists(env).pages.read(name, (cachedVersion) =>
    callOrganization(
      env,
      organizationId,
      (organization) => organization[method]({ ...chosen, ...narrowed }, position, hasLastMessage, cachedVersion),
      region,
    ),
  );
  if (list) return list;
  const isChat = filter === undefined && isId("cht", query.before ?? "");
  throw fault(cursorOf(filter), isChat ? "is not a chat of this organization" : "is not a cursor of this list");
}

/** A member's id; null for nobody, undefined for everybody. */
export function assigneeIn(assignee: string | undefined): string | null | undefined {
  return assignee === NOBODY ? null : assignee;
}

function waitingFor(query: Query): Waiting | undefined {
  const { unanswered, scheduled, search, contact, mentioned } = query;
  const filter = givenOf(query, OF_ACTIVITY);
  const beside = givenOf(query, ["search", "contact", "scheduled"]);
  if (filter && beside) throw fault(filter, `can't be given with ${beside}`);
  const other = (unanswered && "unanswered") || (scheduled && "scheduled") || (contact !== undefined && "contact");
  if (search !== undefined && other) throw fault("search", `can't be given with ${other}`);
  if (unanswered && scheduled) throw fault("scheduled", "can't be given with unanswered, because their orders differ");
  if (unanswered && mentioned !== undefined)
    throw fault("mentioned", "can't be given with unanswered, because their orders differ");
  if (unanswered) return "unanswered";
  return scheduled && "scheduled";
}

/**
 * The position in the list of all chats.
 * @throws ApiError `validation_failed` for `after`, which this order does not support, and for a page past 10,000 chats,
 *   because the cost of a page grows with its number, while `before` costs the same everywhere
 */
function positionIn({ page, limit, before, after }: Query): ChatPosition {
  if (after !== undefined)
    throw fault("after", "can't be used in this list; to continue, pass before with the previous page's cursor");
  const position = positionOf({ page, limit, before });
  if ("page" in position && (position.page - 1) * position.limit >= MAX_OFFSET) {
    throw fault("page", `begins past ${MAX_OFFSET} chats; to continue, pass before with the previous page's cursor`);
  }
  return position;
}

/** The filters whose list is read with a cursor only. */
type WalkFilter = Waiting | "search" | (typeof OF_ACTIVITY)[number];

/** Those whose list has the latest activity first, or the newest mention. */
const OF_ACTIVITY = ["assignee", "state", "handler", "person", "label", "optedOut", "mentioned"] as const;

/** The parameter that takes the cursor: as in all lists, `before` where the newest come first. */
const cursorOf = (filter: WalkFilter | undefined) =>
  filter === "unanswered" || filter === "scheduled" || filter === "search" ? "after" : "before";

/** The parameter that makes the list one that is read with a cursor only; undefined if none does. */
function filterIn(query: Query, waiting: Waiting | undefined): WalkFilter | undefined {
  if (query.search !== undefined) return "search";
  return waiting ?? givenOf(query, OF_ACTIVITY);
}

/** The first of some parameters that is given. */
function givenOf<Name extends keyof Query>(query: Query, names: readonly Name[]): Name | undefined {
  return names.find((name) => query[name] !== undefined);
}

/**
 * The position in a list that is read with a cursor only.
 * @param filter the parameter that makes it such a list
 * @throws ApiError `validation_failed` for `page` and for the other cursor
 */
function walkPositionIn(query: Query, filter: WalkFilter): WaitingPosition {
  const cursor = cursorOf(filter);
  const other = givenOf({ ...query, [cursor]: undefined }, ["page", "before", "after"]);
  if (other)
    throw fault(other, `can't be given with ${filter}; to continue, pass ${cursor} with the previous page's cursor`);
  return { after: query[cursor] ?? null, limit: query.limit };
}
