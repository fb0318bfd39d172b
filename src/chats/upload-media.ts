import * as z from "zod/mini";
import { callChat } from "../calls/call-chat.ts";
import { bucketOf, fileKey } from "../calls/file-bucket.ts";
import { plainType } from "../channels/network/network-response.ts";
import { beginUpload, dropBody } from "../files/store-file.ts";
import { fault, refuseEncoding } from "../http/validation.ts";
import type { Caller } from "../model/caller.ts";
import type { ConfirmAnswer, ConfirmRequest, FileRequest, ReserveAnswer, Unknown } from "../model/chat-answers.ts";
import { ApiError, unavailable } from "../model/error.ts";
import { atMost, notBlankIfGiven, optional, plainFileName, wellFormed } from "../model/field.ts";
import { MAX_FILE_BYTES, MAX_FILE_NAME } from "../model/file.ts";
import { jurisdictionOf, newId } from "../model/id.ts";
import { idempotencyHashOf } from "./idempotency.ts";

/** The query of `POST /chats/{id}/media`. */
export const uploadQuery = z.object({
  fileName: optional(z.string().check(notBlankIfGiven, wellFormed, plainFileName, ...atMost(MAX_FILE_NAME))),
});

export interface UploadRequest {
  fileName: string | null;
  idempotencyKey: string | null;
}

/** The chat that an upload is for, and who uploads. */
export interface UploadTarget {
  chatId: string;
  maxBytes: number;
  idempotencyHashOf(chatId: string, key: string): Promise<string>;
  /** Called before a byte is read. @param id a repeated upload has the same one @throws ApiError to refuse the upload */
  admit?(upload: { id: string; size: number }): Promise<void>;
  /** Called once for each upload that was admitted, when it has ended. @param isStored by this call, or by an earlier one */
  end?(upload: { id: string; size: number }, isStored: boolean): void;
  reserve(file: FileRequest): Promise<Exclude<ReserveAnswer, Unknown>>;
  /** Asked when all bytes have come: why the uploader may no longer upload; null if it may. */
  refusal(): Promise<ApiError | null>;
  confirm(confirmation: ConfirmRequest): Promise<Exclude<ConfirmAnswer, Unknown>>;
}

/** The JSON of a stored file; `replayed` if the idempotency key was used before. */
interface StoredUpload {
  doc: string;
  replayed: boolean;
}

/**
 * Stores a file that a message of the chat can name; see `storeUpload`.
 * @param refusal why the key or session may not upload by now; null if it may
 * @throws ApiError also `chat_not_found`
 */
export function uploadMedia(
  env: Env,
  caller: Caller,
  chatId: string,
  request: Request,
  given: UploadRequest,
  refusal: UploadTarget["refusal"],
): Promise<StoredUpload> {
  const target: UploadTarget = {
    chatId,
    maxBytes: MAX_FILE_BYTES,
    idempotencyHashOf,
    refusal,
    reserve: (file) => callChat(env, caller, chatId, (chat, as) => chat.reserveFile(as, file)),
    confirm: (confirmation) => callChat(env, caller, chatId, (chat, as) => chat.confirmFile(as, confirmation)),
  };
  return storeUpload(env, target, request, given);
}

/**
 * Stores a file that a message of the chat can name. The chat reserves it before its bytes are written, and confirms it
 * after, so nothing is left behind wherever this is cut off. A key that was revoked, and a visitor who was shut out, during
 * the upload gets no file.
 * @throws ApiError `length_required`, `body_too_large`, `media_type`, `validation_failed`, `chat_full`, `upload_limit`,
 *   `idempotency_mismatch`; `unavailable` if R2 does not answer, or no bucket is bound
 */
export async function storeUpload(
  env: Env,
  target: UploadTarget,
  request: Request,
  { fileName, idempotencyKey }: UploadRequest,
): Promise<StoredUpload> {
  const { chatId } = target;
  refuseEncoding(request.headers);
  const size = sizeOf(request.headers, target.maxBytes);
  const bucket = bucketOf(env, chatId);
  if (!request.body) throw emptyBody();
  if (!bucket) {
    await dropBody(request.body);
    throw unavailable("media: no bucket is bound");
  }
  const idempotencyHash = idempotencyKey === null ? null : await target.idempotencyHashOf(chatId, idempotencyKey);
  const id = newId("med", jurisdictionOf(chatId));
  const upload = { id: idempotencyHash ?? id, size };
  await target.admit?.(upload);
  try {
    const stored = await storeAdmitted(target, request, bucket, { id, size, fileName, idempotencyHash });
    target.end?.(upload, true);
    return stored;
  } catch (error) {
    target.end?.(upload, false);
    throw error;
  }
}

async function storeAdmitted(
  target: UploadTarget,
  request: Request,
  bucket: R2Bucket,
  { id, size, fileName, idempotencyHash }: FileRequest,
): Promise<StoredUpload> {
  const { chatId } = target;
  const upload = await beginUpload(
    request.body as ReadableStream<Uint8Array<ArrayBuffer>>,
    size,
    plainType(request.headers.get("Content-Type")),
  );
  const reserved = await target.reserve({ id, size, fileName, idempotencyHash }).catch(async (error) => {
    await upload.drop();
    throw error;
  });
  if (reserved.outcome !== "reserved") await upload.drop();
  if (reserved.outcome === "refused") throw new ApiError(reserved.code);
  if (reserved.outcome === "reserved") {
    const key = fileKey({ chatId, life: reserved.life, mediaId: reserved.id });
    await upload.store(bucket, key, reserved.id !== id);
  }
  // An upload takes minutes. What its uploader lost meanwhile counts: the bytes go with their reservation.
  const refusal = await target.refusal();
  if (refusal) throw refusal;
  if (reserved.outcome === "stored") return { doc: reserved.doc, replayed: true };
  const { life } = reserved;
  const confirmation = { id: reserved.id, life, info: { ...upload.info, fileName }, idempotencyHash };
  const confirmed = await target.confirm(confirmation);
  if (confirmed.outcome === "gone") throw unavailable("media: the reservation is over");
  return { doc: confirmed.doc, replayed: false };
}

/** The `Content-Length`, judged before a byte is read. */
function sizeOf(headers: Headers, maxBytes: number): number {
  const length = headers.get("Content-Length");
  if (headers.has("Transfer-Encoding") || length === null || !/^\d{1,15}$/.test(length)) {
    throw new ApiError("length_required");
  }
  const size = Number(length);
  if (size === 0) throw emptyBody();
  if (size > maxBytes) throw new ApiError("body_too_large");
  return size;
}

function emptyBody(): ApiError {
  return fault("", "must not be empty: it is the file");
}
