import { callChat } from "../calls/call-chat.ts";
import { callObject } from "../calls/call-object.ts";
import { openVisitorChat } from "../calls/open-visitor-chat.ts";
import { visitorUploadHashOf } from "../chats/idempotency.ts";
import { storeUpload, type UploadRequest, type UploadTarget } from "../chats/upload-media.ts";
import type { ChatIdentity, FileRequest, ReserveAnswer, Unknown } from "../model/chat-answers.ts";
import { ApiError, unavailable } from "../model/error.ts";
import type { Region } from "../model/region.ts";
import { MAX_NEW_CHATS, MAX_VISITOR_FILE_BYTES, type Visitor } from "../model/visitor.ts";
import { causeOf } from "../platform/log.ts";

/**
 * Stores a file that the visitor's next message can name. It may begin the visitor's chat. A chat that gets no message
 * is deleted with its last file.
 * @param refusal why the visitor may not upload by now; null if that is as before
 * @param waitUntil keeps the Worker until the upload is counted
 * @returns the file's JSON; `replayed` if the idempotency key was used before
 * @throws ApiError as `storeUpload`, and `uploads_off`, `rate_limited`, `chat_limit`
 */
export function uploadOfVisitor(
  env: Env,
  { visitor, region }: { visitor: Visitor; region: Region | null },
  request: Request,
  given: UploadRequest,
  refusal: UploadTarget["refusal"],
  waitUntil: (work: Promise<unknown>) => void,
): Promise<{ doc: string; replayed: boolean }> {
  const { chatId, organizationId } = visitor;
  const storing = storeUpload(
    env,
    {
      chatId,
      maxBytes: MAX_VISITOR_FILE_BYTES,
      idempotencyHashOf: visitorUploadHashOf,
      refusal,
      admit: (upload) => admit(env, visitor, upload, region),
      end: (upload, isStored) => waitUntil(end(env, visitor, upload, isStored, region)),
      reserve: (file) => reserve(env, { visitor, region }, file),
      // The chat is there, or its files are gone with it.
      confirm: (confirmation) =>
        callChat(env, { organizationId, region }, chatId, (chat, as) => chat.confirmFile(as, confirmation)),
    },
    request,
    given,
  );
  // Also if the client leaves: a file that is stored counts.
  waitUntil(storing.catch(() => {}));
  return storing;
}

/** @throws ApiError `rate_limited` */
async function admit(
  env: Env,
  visitor: Visitor,
  { id, size }: { id: string; size: number },
  region: Region | null,
): Promise<void> {
  const { channelId, chatId, clientNetwork: network } = visitor;
  const upload = { id, chatId, network, bytes: size };
  const decision = await callObject(env.CHANNELS, channelId, (channel) => channel.admitUpload(upload), region);
  if (decision.ok) return;
  const { retryAfter, limit, left } = decision;
  throw tooMany("Too many bytes were uploaded in an hour", retryAfter, { limit, left });
}

/** Never throws: what is not given back now is when the upload should have ended. */
async function end(
  env: Env,
  { channelId, chatId, clientNetwork: network }: Visitor,
  { id, size: bytes }: { id: string; size: number },
  isStored: boolean,
  region: Region | null,
): Promise<void> {
  try {
    await callObject(
      env.CHANNELS,
      channelId,
      (channel) => channel.endUpload({ id, chatId, network, bytes }, isStored),
      region,
    );
  } catch (error) {
    console.error({ event: "upload_end_not_counted", channelId, cause: causeOf(error) });
  }
}

/** Reserves the file in the visitor's chat, which is created if there is none. */
async function reserve(
  env: Env,
  { visitor, region }: { visitor: Visitor; region: Region | null },
  file: FileRequest,
): Promise<Exclude<ReserveAnswer, Unknown>> {
  const { chatId, organizationId } = visitor;
  const ask = (knownIdentity: ChatIdentity | null) =>
    callObject(
      env.CHATS,
      chatId,
      (chat, isRepeat) => chat.reserveVisitorFile({ organizationId, knownIdentity, isRepeat }, visitor, file),
      region,
    );
  const first = await ask(null);
  if (first.outcome !== "unknown") return first;
  const opened = await openVisitorChat(env, visitor, region);
  switch (opened.outcome) {
    case "opened": {
      const second = await ask(opened.identity);
      if (second.outcome === "unknown") throw unavailable("media: the chat was deleted meanwhile");
      return second;
    }
    case "too_many":
      throw tooMany("Too many new chats", opened.retryAfter, { limit: MAX_NEW_CHATS.network, left: 0 });
    case "chat_limit":
      throw new ApiError("chat_limit");
    case "deleting":
      throw unavailable("media: the chat is being deleted");
    case "no_channel":
      throw new ApiError("channel_not_found");
  }
}

/** By the specification each 429 carries the three headers. @param retryAfter seconds */
function tooMany(text: string, retryAfter: number, { limit, left }: { limit: number; left: number }): ApiError {
  const headers = {
    "Retry-After": String(retryAfter),
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(left),
    "X-RateLimit-Reset": String(Math.ceil(Date.now() / 1_000) + retryAfter),
  };
  return new ApiError("rate_limited", { text, headers });
}
