import type { Context } from "hono";
import { fault } from "../http/validation.ts";
import { extraOf, type SendBody, typeOf } from "../model/message.ts";
import type { Variables } from "../model/placeholder.ts";

export const MAX_IDEMPOTENCY_KEY = 255;

/**
 * The key of a request, or null.
 * @throws ApiError `validation_failed`
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
export function readIdempotencyKey(c: Context): string | null {
  const key = c.req.header("Idempotency-Key");
  if (key === undefined) return null;
  if (key.length < 1 || key.length > MAX_IDEMPOTENCY_KEY) {
    throw fault("Idempotency-Key", `must have 1 to ${MAX_IDEMPOTENCY_KEY} characters`);
  }
  // The runtime joins repeated headers with a comma, so a key with a comma looks like two keys.
  if (key.includes(",")) throw fault("Idempotency-Key", "must be one key without a comma");
  return key;
}

/** SHA-256, base64, of an idempotency key and its chat: the same key has another hash in another chat. */
export async function idempotencyHashOf(chatId: string, key: string): Promise<string> {
  return (await sha256(JSON.stringify([chatId, key]))).toBase64();
}

/** Like `idempotencyHashOf`, for a visitor's uploads: a stranger's key must not stand for a file of the company. */
export async function visitorUploadHashOf(chatId: string, key: string): Promise<string> {
  return (await sha256(JSON.stringify([chatId, "visitor", key]))).toBase64();
}

/** Like `idempotencyHashOf`, for notes: their keys have nothing to do with those of messages. */
export async function noteHashOf(chatId: string, key: string): Promise<string> {
  return (await sha256(JSON.stringify([chatId, "note", key]))).toBase64();
}

/** Like `noteHashOf`, for the note of a handover: its key stands for the whole act. */
export async function handoverNoteHashOf(chatId: string, key: string): Promise<string> {
  return (await sha256(JSON.stringify([chatId, "handover", key]))).toBase64();
}

/** SHA-256, hex, of what a note says. The order of its mentions makes no difference. */
export async function noteFingerprintOf(content: string, mentions: string[], isDraft: boolean): Promise<string> {
  return (await sha256(JSON.stringify([content, mentions.toSorted(), ...(isDraft ? ["draft"] : [])]))).toHex();
}

/**
 * SHA-256, hex, of a valid body's meaning. The order of fields, explicit nulls and white space between fields make no
 * difference.
 */
export async function fingerprintOf(body: SendBody): Promise<string> {
  const extra = extraOf(body);
  const meaning = JSON.stringify([
    body.content,
    typeOf(body),
    body.senderId ?? null,
    body.templateId ?? null,
    body.variables ? sorted(body.variables) : null,
    body.mediaUrl ?? null,
    sorted(body.metadata),
    ...(body.scheduledAt === undefined && body.expiresAt === undefined
      ? []
      : [body.scheduledAt ?? null, body.expiresAt ?? null]),
    ...(body.draftId === undefined ? [] : [{ draftId: body.draftId }]),
    ...(body.mediaId === undefined ? [] : [{ mediaId: body.mediaId }]),
    // Parsed values have their fields in the order of the schema.
    ...(extra ? [extra] : []),
  ]);
  return (await sha256(meaning)).toHex();
}

/** SHA-256, hex, of what a handover asks for, in a fixed order. */
export async function handoverFingerprintOf(meaning: unknown[]): Promise<string> {
  return (await sha256(JSON.stringify(meaning))).toHex();
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function sorted(value: Variables): [string, string | number | undefined][] {
  return Object.keys(value)
    .sort()
    .map((key) => [key, value[key]]);
}
