import * as z from "zod/mini";
import { plainType } from "../channels/network-response.ts";
import { bucketOf, fileKey } from "../files/bucket.ts";
import { MAX_FILE_BYTES, MAX_FILE_NAME } from "../files/limits.ts";
import { beginUpload } from "../files/store-file.ts";
import { ApiError, unavailable } from "../http/errors.ts";
import { atMost, notBlankIfGiven, optional, wellFormed } from "../http/fields.ts";
import { fault } from "../http/validation.ts";
import { jurisdictionOf, newId } from "../ids.ts";
import type { Caller } from "../keys/caller.ts";
import { callChat } from "./call-chat.ts";
import { idempotencyHashOf } from "./idempotency.ts";

/** Neither a path, nor characters that change how others are shown. */
const plainName = z.refine<string>(
  (name) => !/[/\\\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(name) && !/^\.{1,2}$/.test(name),
  "must be a file name: without slashes, backslashes, control characters and characters that turn the direction of text",
);

/** The query of `POST /chats/{id}/media`. */
export const uploadQuery = z.object({
  fileName: optional(z.string().check(notBlankIfGiven, wellFormed, plainName, ...atMost(MAX_FILE_NAME))),
});

interface UploadRequest {
  fileName: string | null;
  idempotencyKey: string | null;
}

/**
 * Stores a file that a message of the chat can name. The chat reserves it before its bytes are written, and confirms it
 * after, so nothing is left behind wherever this is cut off.
 * @returns the file's JSON; `replayed` if the idempotency key was used before
 * @throws ApiError `length_required`, `body_too_large`, `media_type`, `validation_failed`, `chat_not_found`, `chat_full`,
 *   `upload_limit`, `idempotency_mismatch`; `unavailable` if R2 does not answer, or no bucket is bound
 */
export async function uploadMedia(
  env: Env,
  caller: Caller,
  chatId: string,
  request: Request,
  { fileName, idempotencyKey }: UploadRequest,
): Promise<{ doc: string; replayed: boolean }> {
  const size = sizeOf(request.headers);
  const bucket = bucketOf(env, chatId);
  if (!bucket) throw unavailable("media: no bucket is bound");
  if (!request.body) throw emptyBody();
  const upload = await beginUpload(
    request.body as ReadableStream<Uint8Array<ArrayBuffer>>,
    size,
    plainType(request.headers.get("Content-Type")),
  );
  const idempotencyHash = idempotencyKey === null ? null : await idempotencyHashOf(chatId, idempotencyKey);
  const id = newId("med", jurisdictionOf(chatId));
  const file = { id, size, fileName, idempotencyHash };
  const reserved = await callChat(env, caller, chatId, (chat, as) => chat.reserveFile(as, file));
  if (reserved.outcome === "refused") throw new ApiError(reserved.code);
  if (reserved.outcome === "stored") return { doc: reserved.doc, replayed: true };
  const { life } = reserved;
  await upload.store(bucket, fileKey({ chatId, life, mediaId: reserved.id }));
  const confirmation = { id: reserved.id, life, info: { ...upload.info, fileName }, idempotencyHash };
  const confirmed = await callChat(env, caller, chatId, (chat, as) => chat.confirmFile(as, confirmation));
  if (confirmed.outcome === "gone") throw unavailable("media: the reservation is over");
  return { doc: confirmed.doc, replayed: false };
}

/** The `Content-Length`, judged before a byte is read. */
function sizeOf(headers: Headers): number {
  const length = headers.get("Content-Length");
  if (headers.has("Transfer-Encoding") || length === null || !/^\d{1,15}$/.test(length)) {
    throw new ApiError("length_required");
  }
  const size = Number(length);
  if (size === 0) throw emptyBody();
  if (size > MAX_FILE_BYTES) throw new ApiError("body_too_large");
  return size;
}

function emptyBody(): ApiError {
  return fault("", "must not be empty: it is the file");
}
