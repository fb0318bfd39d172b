import type { RowPosition } from "../db/rows.ts";
import { isId } from "../model/id.ts";
import { readOpaque, writeOpaque } from "../model/opaque.ts";

/** The lists that come before the chats of an organization, in the order of an export. */
export const LISTS = ["members", "channels", "templates", "replies", "labels"] as const;

export type ListName = (typeof LISTS)[number];

/** A place in an export: behind a row of a list. */
export interface ListPlace extends RowPosition {
  list: ListName;
}

/**
 * A place in an export: after the message with `seq` of a chat, which is exported up to `upTo`. If `upTo` is null: among
 * the messages without a place and the notes, after `unplacedAfter`.
 */
export interface ChatPlace {
  chatId: string;
  /** A chat that was deleted and created again has another life. */
  life: number;
  seq: number;
  upTo: number | null;
  unplacedAfter: string;
  /** How many chats before this place could not be read. */
  unreadable: number;
}

export type ExportPlace = ListPlace | ChatPlace;

/** What is exported: one chat, or, if `chatId` is null, everything of an organization. */
export interface ExportScope {
  organizationId: string;
  chatId: string | null;
}

const VERSION = 2;
/** The longest cursor, in characters. */
export const MAX_EXPORT_CURSOR = 256;

/** A place as the cursor that the API shows. */
export function writeExportCursor({ organizationId, chatId }: ExportScope, place: ExportPlace): string {
  const start = [VERSION, organizationId, chatId !== null];
  if ("list" in place) return writeOpaque([...start, place.list, place.createdAt, place.id]);
  const { chatId: inChat, life, seq, upTo, unplacedAfter, unreadable } = place;
  return writeOpaque([...start, inChat, life, seq, upTo, unplacedAfter, unreadable]);
}

/** Reads a cursor; null if it is not one, or not one of this export. */
export function readExportCursor(scope: ExportScope, text: string): ExportPlace | null {
  return readChatPlace(scope, text) ?? readListPlace(scope, text);
}

function readChatPlace(scope: ExportScope, text: string): ChatPlace | null {
  const values = readOpaque(text, 9);
  const [version, organizationId, isOfChat, chatId, life, seq, upTo, unplacedAfter, unreadable] = values;
  if (!isStart(scope, version, organizationId, isOfChat)) return null;
  if (typeof chatId !== "string" || !isId("cht", chatId) || (scope.chatId ?? chatId) !== chatId) return null;
  if (!isNumber(life) || !isNumber(seq) || !(upTo === null || isNumber(upTo)) || !isNumber(unreadable)) return null;
  return typeof unplacedAfter === "string" ? { chatId, life, seq, upTo, unplacedAfter, unreadable } : null;
}

function readListPlace(scope: ExportScope, text: string): ListPlace | null {
  const [version, organizationId, isOfChat, name, createdAt, id] = readOpaque(text, 6);
  if (!isStart(scope, version, organizationId, isOfChat) || scope.chatId !== null) return null;
  const list = LISTS.find((each) => each === name);
  return list && isNumber(createdAt) && typeof id === "string" ? { list, createdAt, id } : null;
}

function isStart(scope: ExportScope, version: unknown, organizationId: unknown, isOfChat: unknown): boolean {
  return version === VERSION && organizationId === scope.organizationId && isOfChat === (scope.chatId !== null);
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
