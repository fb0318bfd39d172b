import { readOpaque, writeOpaque } from "../http/opaque.ts";
import { isId } from "../ids.ts";

/** A place in an export: after the message with `seq` of a chat, which is exported up to `upTo`. */
export interface ExportPlace {
  chatId: string;
  /** A chat that was deleted and created again has another life. */
  life: number;
  seq: number;
  upTo: number;
}

/** What is exported: one chat, or, if `chatId` is null, all chats of an organization. */
export interface ExportScope {
  organizationId: string;
  chatId: string | null;
}

const VERSION = 1;
/** The longest cursor, in characters. */
export const MAX_EXPORT_CURSOR = 256;

/** A place as the cursor that the API shows. */
export function writeExportCursor({ organizationId, chatId }: ExportScope, place: ExportPlace): string {
  return writeOpaque([VERSION, organizationId, chatId !== null, place.chatId, place.life, place.seq, place.upTo]);
}

/** Reads a cursor; null if it is none, or not of this export. */
export function readExportCursor(scope: ExportScope, text: string): ExportPlace | null {
  const [version, organizationId, isOfChat, chatId, life, seq, upTo] = readOpaque(text, 7);
  if (version !== VERSION || organizationId !== scope.organizationId || isOfChat !== (scope.chatId !== null))
    return null;
  if (typeof chatId !== "string" || !isId("cht", chatId) || (scope.chatId ?? chatId) !== chatId) return null;
  return isNumber(life) && isNumber(seq) && isNumber(upTo) ? { chatId, life, seq, upTo } : null;
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
