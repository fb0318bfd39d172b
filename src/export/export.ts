import { callChat } from "../calls/call-chat.ts";
import { answerWithin } from "../calls/call-object.ts";
import { callOrganization, type OrganizationStub } from "../calls/call-organization.ts";
import { readOrganization } from "../db/active-organization.ts";
import { directory } from "../db/client.ts";
import { FROM_START, rowsAfter } from "../db/rows.ts";
import { channels, members, replies, templates } from "../db/schema.ts";
import { HELD_RETRY_SECONDS, HOLD_MS } from "../events/held-up.ts";
import { presentMember } from "../management/members.ts";
import { presentSettings } from "../management/present-channel.ts";
import { presentReply } from "../management/replies.ts";
import { presentTemplate } from "../management/templates.ts";
import type { ExportAnswer, Unknown } from "../model/chat-answers.ts";
import { ApiError, type ErrorCode, unavailable } from "../model/error.ts";
import type { ExportedChat } from "../model/organization.ts";
import type { Region } from "../model/region.ts";
import { causeOf } from "../platform/log.ts";
import {
  type ChatPlace,
  type ExportPlace,
  type ExportScope,
  LISTS,
  type ListName,
  type ListPlace,
  writeExportCursor,
} from "./cursor.ts";

/**
 * The most calls of objects and of D1 in one response. On its free plan the platform allows 1,000 in a request. The key's
 * check and the wait for a chat that can't be read are some of them.
 */
export const MAX_CALLS = 900;
/** A call of a chat that its object has not adopted makes two more. */
const CALLS_A_PAGE = 3;
const READ_TIMEOUT_MS = 15_000;
const CHATS_AT_ONCE = 100;

/**
 * Chats can share a thread, so a part that is read without a pause delays the sends of others. These are several times
 * what the reading takes.
 */
const PAUSE_MS_A_MESSAGE = 0.1;
const PAUSE_MS_A_BYTE = 0.000_05;

interface Scope extends ExportScope {
  region?: Region | null;
  /** The error if the organization is deleted. */
  missing: ErrorCode;
}

/** What to read next of a chat. Null for a life that is not known yet. */
type Asked = Omit<ChatPlace, "life" | "unreadable"> & { life: number | null };

/**
 * Exports a chat, or everything of an organization: its members, channels, templates, saved replies and labels, and then
 * its chats in the order of their ids. There is a line of JSON for each, and for each message of a chat, oldest first, up to the newest message
 * when the export of the chat began. Each part ends with a line that says how to go on, so that a client whose connection
 * is cut repeats nothing. A chat that can't be read for minutes is left out, which a line and the last line say. For one
 * that can't be read for a moment, the response ends before it.
 * @param from where an earlier response ended; null for the start
 * @throws ApiError `chat_not_found` before the first part, if the one chat does not exist; `unavailable` before the first
 *   part, if its chat can't be read; `scope.missing` instead of the last line, if the organization was deleted meanwhile
 */
export async function* exportParts(
  env: Env,
  scope: Scope,
  from: ExportPlace | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  const calls = { count: 0 };
  if (from && !("list" in from)) {
    yield* chatParts(env, scope, from, calls);
    return;
  }
  const lists = scope.chatId === null ? yield* listParts(env, scope, from, calls) : NO_LISTS;
  if (lists.isComplete) yield* chatParts(env, scope, null, calls, lists);
  else yield endPart(scope, 0, lists.place);
}

type Page = Exclude<ExportAnswer, Unknown>;

interface ListsRead {
  place: ListPlace | null;
  /** False if the response must end, because it may make no more calls. */
  isComplete: boolean;
  /** Whether the response has a part. */
  hasBegun: boolean;
}

const NO_LISTS: ListsRead = { place: null, isComplete: true, hasBegun: false };

/** The lists of an organization. */
async function* listParts(
  env: Env,
  scope: Scope,
  from: ListPlace | null,
  calls: { count: number },
): AsyncGenerator<Uint8Array, ListsRead, undefined> {
  let place = from;
  let hasBegun = false;
  for (const list of LISTS.slice(from ? LISTS.indexOf(from.list) : 0)) {
    for (let isComplete = false; !isComplete; ) {
      if (calls.count >= MAX_CALLS - CALLS_A_PAGE) return { place, isComplete: false, hasBegun };
      calls.count++;
      const page = await listLines(env, scope.organizationId, list, place?.list === list ? place : null);
      ({ isComplete } = page);
      if (!page.place) continue;
      place = page.place;
      yield part(page.lines, null, { type: "checkpoint", next: writeExportCursor(scope, place) });
      hasBegun = true;
    }
  }
  return { place, isComplete: true, hasBegun };
}

/** The one chat, or all chats, and the last line. @param lists what stands before it in the response */
async function* chatParts(
  env: Env,
  scope: Scope,
  from: ChatPlace | null,
  calls: { count: number },
  lists: ListsRead = NO_LISTS,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { organizationId, chatId, region = null } = scope;
  let place = from;
  let waiting: ExportedChat[] = [];
  let isLast = chatId !== null && from !== null;
  let { hasBegun } = lists;
  let isHeld = false;
  let pause = 0;

  const ask = <R>(call: (organization: OrganizationStub) => R) => {
    calls.count++;
    return callOrganization(env, organizationId, call, region);
  };

  const readChats = async (): Promise<void> => {
    const after = place?.chatId ?? "";
    const limit = chatId === null ? CHATS_AT_ONCE : 1;
    waiting = await ask((organization) => organization.chatsAfter(after, limit, chatId));
    isLast = chatId !== null || waiting.length < CHATS_AT_ONCE;
    if (chatId !== null && waiting.length === 0) throw new ApiError("chat_not_found");
  };

  /** How a page was read: `later` if the chat can't be read for a moment. */
  const readPage = async (asked: Asked): Promise<Page | "deleted" | "unreadable" | "later"> => {
    const { chatId: id } = asked;
    const read = () =>
      callChat(env, { organizationId, region }, id, (chat, as) => {
        calls.count += as.knownIdentity ? 2 : 1;
        return chat.exportPage(as, asked);
      });
    try {
      return await answerWithin(READ_TIMEOUT_MS, read);
    } catch (error) {
      const isDeleted = error instanceof ApiError && error.code === "chat_not_found";
      if (isDeleted && (chatId === null || hasBegun)) return "deleted";
      if (isDeleted || chatId !== null) throw error;
      console.warn({ event: "chat_not_readable", chatId: id, error: causeOf(error) });
      const ms = await ask((organization) => organization.chatUnreadable(id));
      if (ms === null) return "deleted";
      if (ms >= HOLD_MS) return "unreadable";
      if (!hasBegun) throw unavailable(error, HELD_RETRY_SECONDS);
      return "later";
    }
  };

  for (;;) {
    const current = place && !isAtEnd(place) ? place : null;
    if (!current && waiting.length === 0 && !isLast && calls.count < MAX_CALLS) await readChats();
    if (calls.count > MAX_CALLS - CALLS_A_PAGE) break;
    const chat = current ? undefined : waiting.shift();
    const asked: Asked | null = current ?? (chat ? startOf(chat) : null);
    if (!asked) break;
    if (pause >= 1) await scheduler.wait(pause);
    const read = await readPage(asked);
    if (read === "later") {
      isHeld = true;
      break;
    }
    hasBegun = true;
    const page = typeof read === "string" ? null : read;
    let unreadable: number = place?.unreadable ?? 0;
    // A chat that was deleted before its line is left out.
    let first = chat && page ? `{"type":"chat","chat":${chat.doc}}\n` : "";
    if (current && read === "deleted") first = `${JSON.stringify({ type: "chat_deleted", chatId: current.chatId })}\n`;
    if (read === "unreadable") {
      unreadable++;
      first = unreadableLine(organizationId, asked.chatId, current);
    }
    pause = page ? (page.seq - asked.seq) * PAUSE_MS_A_MESSAGE + page.lines.length * PAUSE_MS_A_BYTE : 0;
    const { seq, life, upTo, unplacedAfter } = page ?? { ...asked, life: asked.life ?? 0, upTo: asked.seq };
    place = { chatId: asked.chatId, life, seq, upTo, unplacedAfter, unreadable };
    yield part(first, page?.lines ?? null, { type: "checkpoint", next: writeExportCursor(scope, place) });
  }
  const isComplete = !isHeld && isLast && waiting.length === 0 && (!place || isAtEnd(place));
  if (isComplete && chatId === null && !(await readOrganization(env, organizationId)))
    throw new ApiError(scope.missing);
  yield endPart(scope, place?.seq ?? 0, isComplete ? null : (place ?? lists.place), place?.unreadable ?? 0);
}

function startOf({ id, life }: ExportedChat): Asked {
  return { chatId: id, life, seq: 0, upTo: null, unplacedAfter: "" };
}

/** Whether a chat's export is complete. */
function isAtEnd({ seq, upTo }: ChatPlace): boolean {
  return upTo !== null && seq >= upTo;
}

/** @param from where in the chat; null for its beginning */
function unreadableLine(organizationId: string, chatId: string, from: ChatPlace | null): string {
  // A cursor for the export of this chat alone.
  const next = from && writeExportCursor({ organizationId, chatId }, { ...from, unreadable: 0 });
  return `${JSON.stringify({ type: "chat_unreadable", chatId, next })}\n`;
}

/**
 * @param place where the export continues; null if it is complete
 * @param unreadable how many chats could not be read since the beginning of the export
 */
function endPart(scope: Scope, lastSeq: number, place: ExportPlace | null, unreadable = 0): Uint8Array {
  const end = { type: "end", lastSeq, next: place && writeExportCursor(scope, place) };
  return part("", null, unreadable > 0 ? { ...end, unreadable } : end);
}

function part(before: string, lines: Uint8Array | null, last: object): Uint8Array {
  const encoder = new TextEncoder();
  const start = encoder.encode(before);
  const end = encoder.encode(`${JSON.stringify(last)}\n`);
  const whole = new Uint8Array(start.length + (lines?.length ?? 0) + end.length);
  whole.set(start);
  if (lines) whole.set(lines, start.length);
  whole.set(end, whole.length - end.length);
  return whole;
}

const ROWS_AT_ONCE = 100;

/** How a row of each list is shown: without secrets, not even the ends of credentials. */
const SHOWN = {
  members: { type: "member", table: members, present: presentMember },
  channels: { type: "channel", table: channels, present: presentSettings },
  templates: { type: "template", table: templates, present: presentTemplate },
  replies: { type: "reply", table: replies, present: presentReply },
} as const;

interface ListLines {
  lines: string;
  place: ListPlace | null;
  isComplete: boolean;
}

/**
 * Up to 100 rows of a list behind a place, oldest first, as lines of JSON, in one query of the directory. The labels are
 * all in one part, from the organization's object.
 * @returns `place`: the last row; null if there are none
 */
export async function listLines(
  env: Env,
  organizationId: string,
  list: ListName,
  after: ListPlace | null,
): Promise<ListLines> {
  if (list === "labels") return labelLines(env, organizationId, after);
  const { type, table, present } = SHOWN[list];
  const rows = await rowsAfter(directory(env), table, organizationId, after ?? FROM_START, ROWS_AT_ONCE);
  const lines = rows.map((row) => `${JSON.stringify({ type, [type]: present(row as never) })}\n`);
  const last = rows.at(-1);
  return {
    lines: lines.join(""),
    place: last ? { list, createdAt: last.createdAt, id: last.id } : null,
    isComplete: rows.length < ROWS_AT_ONCE,
  };
}

async function labelLines(env: Env, organizationId: string, after: ListPlace | null): Promise<ListLines> {
  const labels = after ? [] : await callOrganization(env, organizationId, (organization) => organization.labels());
  const last = labels.at(-1);
  return {
    lines: labels.map((label) => `${JSON.stringify({ type: "label", label })}\n`).join(""),
    place: last ? { list: "labels", createdAt: 0, id: last.id } : null,
    isComplete: true,
  };
}
