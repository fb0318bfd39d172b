import { callChat } from "../chats/call-chat.ts";
import type { Region } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { callOrganization } from "../organizations/call-organization.ts";
import type { ExportedChat } from "../organizations/rpc.ts";
import { type ExportPlace, type ExportScope, writeExportCursor } from "./cursor.ts";

/** The most calls of objects in one response. The free plan of the platform allows 50 subrequests in a request. */
const MAX_CALLS = 40;
/** A call of a chat that its object has not adopted makes two more. */
const CALLS_A_PAGE = 3;
const CHATS_AT_ONCE = 100;

/** What to read next of a chat. Null for a time or a seq that is not known yet. */
type Asked = Omit<ExportPlace, "life" | "upTo"> & { life: number | null; upTo: number | null };

/**
 * Exports a chat, or all chats of an organization in the order of their ids: a line of JSON for each chat and for each of
 * its messages, oldest first, up to the newest message when the export of the chat began. Each part ends with a line that
 * says how to go on, so that a client whose connection is cut repeats nothing.
 * @param from where an earlier response ended; null for the start
 * @throws ApiError `chat_not_found` before the first part, if the one chat does not exist
 */
export async function* exportParts(
  env: Env,
  scope: ExportScope & { region?: Region | null },
  from: ExportPlace | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { organizationId, chatId, region = null } = scope;
  let place = from;
  let calls = 0;
  let waiting: ExportedChat[] = [];
  let isLast = chatId !== null && from !== null;
  let hasBegun = false;

  const readChats = async (): Promise<void> => {
    calls++;
    const after = place?.chatId ?? "";
    waiting = await callOrganization(
      env,
      organizationId,
      (organization) => organization.chatsAfter(after, chatId === null ? CHATS_AT_ONCE : 1, chatId),
      region,
    );
    isLast = chatId !== null || waiting.length < CHATS_AT_ONCE;
    if (chatId !== null && waiting.length === 0) throw new ApiError("chat_not_found");
  };

  /** @returns null if the chat is deleted */
  const readPage = async (asked: Asked) => {
    try {
      return await callChat(env, { organizationId, region }, asked.chatId, (chat, knownIdentity) => {
        calls += knownIdentity ? 2 : 1;
        return chat.exportPage(organizationId, asked, knownIdentity);
      });
    } catch (error) {
      const isDeleted = error instanceof ApiError && error.code === "chat_not_found";
      if (!isDeleted || (chatId !== null && !hasBegun)) throw error;
      return null;
    }
  };

  for (;;) {
    const current = place && place.seq < place.upTo ? place : null;
    if (!current && waiting.length === 0 && !isLast && calls < MAX_CALLS) await readChats();
    if (calls > MAX_CALLS - CALLS_A_PAGE) break;
    const chat = current ? undefined : waiting.shift();
    const asked: Asked | null = current ?? (chat ? { chatId: chat.id, life: chat.life, seq: 0, upTo: null } : null);
    if (!asked) break;
    const page = await readPage(asked);
    hasBegun = true;
    // A chat that was deleted before its line is left out.
    let before = chat && page ? `{"type":"chat","chat":${chat.doc}}\n` : "";
    if (current && !page) before = `${JSON.stringify({ type: "chat_deleted", chatId: current.chatId })}\n`;
    const { seq, life, upTo } = page ?? { seq: asked.seq, life: asked.life ?? 0, upTo: asked.seq };
    place = { chatId: asked.chatId, life, seq, upTo };
    const checkpoint = { type: "checkpoint", next: writeExportCursor(scope, place) };
    yield joined(before, page?.lines ?? new Uint8Array(), checkpoint);
  }
  const isComplete = isLast && waiting.length === 0 && (!place || place.seq >= place.upTo);
  const next = isComplete || !place ? null : writeExportCursor(scope, place);
  yield joined("", new Uint8Array(), { type: "end", lastSeq: place?.seq ?? 0, next });
}

function joined(before: string, lines: Uint8Array, last: object): Uint8Array {
  const encoder = new TextEncoder();
  const start = encoder.encode(before);
  const end = encoder.encode(`${JSON.stringify(last)}\n`);
  const part = new Uint8Array(start.length + lines.length + end.length);
  part.set(start);
  part.set(lines, start.length);
  part.set(end, start.length + lines.length);
  return part;
}
