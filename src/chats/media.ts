import { channelRecord } from "../channels/record.ts";
import { ADAPTERS, networkOf } from "../channels/registry.ts";
import { bucketOf, fileKey } from "../files/bucket.ts";
import { fileHeaders, serveFile } from "../files/serve.ts";
import { ApiError, unavailable } from "../http/errors.ts";
import type { Caller } from "../keys/caller.ts";
import { callChat } from "./call-chat.ts";

/**
 * Streams the media of a message: a file of ours, or that of an inbound message from its network, of which nothing is
 * stored, and the client sees neither the network's URL nor its token. Browsers don't run it or guess its type.
 * @throws ApiError `message_not_found`; `media_not_found` if the message has no media; `media_expired` if the network no
 *   longer has the file; `unavailable` if the network does not answer
 */
export async function readMedia(
  env: Env,
  caller: Caller,
  { chatId, messageId }: { chatId: string; messageId: string },
  request: Request,
): Promise<Response> {
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.media(as, messageId));
  if (answer.outcome !== "ok") {
    throw new ApiError(answer.outcome === "no_message" ? "message_not_found" : "media_not_found");
  }
  const { media, channelId, life } = answer;
  if ("fileId" in media) {
    const { fileId, ...info } = media;
    const bucket = bucketOf(env, chatId);
    if (!bucket) throw unavailable("media: no bucket is bound");
    const key = fileKey({ chatId, life, mediaId: fileId });
    const served = await serveFile({ bucket, key, etag: fileId, info }, request);
    if (served) return served;
    throw new ApiError("media_not_found");
  }
  const channel = await channelRecord(env, channelId);
  if (!channel || channel.kind === "web" || "fileId" in media) throw new ApiError("media_not_found");
  const found = await ADAPTERS[channel.kind].media(media.id, channel.credentials, networkOf(env, channel.kind));
  if (found.outcome === "expired") throw new ApiError("media_expired");
  if (found.outcome === "unavailable") throw unavailable(`media: ${found.message}`);
  const headers = fileHeaders(found.contentType ?? media.contentType ?? "application/octet-stream", media.fileName);
  if (found.length !== null) headers.set("Content-Length", String(found.length));
  return new Response(found.body, { headers });
}
