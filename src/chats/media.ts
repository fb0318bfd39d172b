import { type ChatStub, callChat, type MessageIds, nullIfNotFound } from "../calls/call-chat.ts";
import { type ChannelRecord, channelRecord } from "../calls/channel-record.ts";
import { bucketOf, fileKey } from "../calls/file-bucket.ts";
import { safeContentType } from "../channels/network/network-response.ts";
import { ADAPTERS, networkOf } from "../channels/registry.ts";
import type { LinkedFile } from "../channels/web/file-link.ts";
import { askedRange, fileHeaders, isKnown, noSuchPart, notModified, refuseOther, serveFile } from "../files/serve.ts";
import type { Caller } from "../model/caller.ts";
import type { AsOwner, FileMedia, NetworkMedia } from "../model/chat-answers.ts";
import { ApiError, unavailable } from "../model/error.ts";

const DAY_MS = 86_400_000;
/** The type of a response whose file's type is unknown, or one that browsers would run. */
const ANY_TYPE = "application/octet-stream";

/**
 * Streams the media of a message: an uploaded file, or that of an inbound message from its network, of which nothing is
 * stored, and the client sees neither the network's URL nor its token. Browsers don't run it or guess its type.
 * @throws ApiError `message_not_found`; `media_not_found` if the message has no media; `media_expired` if the network no
 *   longer has the file; `too_large_at_network` if it gives out none of this size; `precondition_failed` if `If-Match` names another one; `unavailable` if the network does not
 *   answer
 */
export async function readMedia(env: Env, caller: Caller, ids: MessageIds, request: Request): Promise<Response> {
  const { chatId, messageId } = ids;
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.media(as, messageId));
  if (answer.outcome !== "ok") {
    throw new ApiError(answer.outcome === "no_message" ? "message_not_found" : "media_not_found");
  }
  const { media, channelId, life, createdAt } = answer;
  if ("fileId" in media) return ourFile(env, media, { chatId, life }, request);
  return networkFile(env, caller, media, { ...ids, channelId, createdAt }, request);
}

/**
 * Streams the file of a message to its visitor, who has a link to it. The link ends when the message is blanked, and a
 * browser that has kept the file asks before each use, so its copy ends too.
 * @throws ApiError `media_not_found`, also if there is no such message; `unavailable`
 */
export async function readLinkedMedia(
  env: Env,
  channel: ChannelRecord,
  { chatId, messageId }: LinkedFile,
  request: Request,
): Promise<Response> {
  const find = (chat: ChatStub, as: AsOwner) => chat.media(as, messageId);
  const answer = await nullIfNotFound(callChat(env, channel, chatId, find));
  if (answer?.outcome !== "ok" || answer.channelId !== channel.id || !("fileId" in answer.media)) {
    throw new ApiError("media_not_found");
  }
  const response = await ourFile(env, answer.media, { chatId, life: answer.life }, request);
  // Pages of other sites can show it, where the company made a page of its own.
  response.headers.set("Cross-Origin-Resource-Policy", "cross-origin");
  return response;
}

async function ourFile(
  env: Env,
  { fileId, ...info }: FileMedia,
  { chatId, life }: { chatId: string; life: number },
  request: Request,
): Promise<Response> {
  const bucket = bucketOf(env, chatId);
  if (!bucket) throw unavailable("media: no bucket is bound");
  const key = fileKey({ chatId, life, mediaId: fileId });
  const served = await serveFile({ bucket, key, etag: fileId, info }, request);
  if (!served) throw new ApiError("media_not_found");
  return served;
}

/** A network's file never changes, so the message's id is its tag. */
async function networkFile(
  env: Env,
  caller: Caller,
  { id, contentType, fileName, size, gone }: NetworkMedia,
  { chatId, messageId, channelId, createdAt }: MessageIds & { channelId: string; createdAt: number },
  request: Request,
): Promise<Response> {
  if (gone) throw new ApiError("media_expired");
  const channel = await channelRecord(env, channelId);
  if (!channel || channel.kind === "web") throw new ApiError("media_not_found");
  const headersAs = (type: string | null) =>
    fileHeaders((contentType === null ? type : safeContentType(contentType)) ?? ANY_TYPE, fileName, messageId);
  refuseOther(request, messageId);
  if (isKnown(request, messageId)) return notModified(headersAs(null));
  const isHead = request.method === "HEAD";
  const asked = askedRange(request, messageId);
  const found = await ADAPTERS[channel.kind].media(id, channel.credentials, networkOf(env, channel.kind), {
    isHead,
    range: asked && `bytes=${asked.from}-${asked.to}`,
  });
  if (found.outcome === "expired") {
    const { finalAfterDays } = found;
    if (finalAfterDays !== null && Date.now() >= createdAt + finalAfterDays * DAY_MS) {
      await callChat(env, caller, chatId, (chat, as) => chat.mediaGone(as, messageId));
    }
    throw new ApiError("media_expired");
  }
  if (found.outcome === "too_large") throw new ApiError("too_large_at_network");
  if (found.outcome === "unavailable") throw unavailable(`media: ${found.message}`);
  if (found.outcome === "no_such_part") {
    const whole = found.size ?? size;
    if (whole === undefined) throw unavailable("media: the network has no such part");
    return noSuchPart(whole, headersAs(null));
  }
  const headers = headersAs(found.contentType);
  if (found.length !== null) headers.set("Content-Length", String(found.length));
  if (found.contentRange !== null) headers.set("Content-Range", found.contentRange);
  return new Response(found.body, { status: found.contentRange === null ? 200 : 206, headers });
}
