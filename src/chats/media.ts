import { channelRecord } from "../channels/record.ts";
import { ADAPTERS, networkOf } from "../channels/registry.ts";
import { ApiError, unavailable } from "../http/errors.ts";
import type { Caller } from "../keys/caller.ts";
import { callChat } from "./call-chat.ts";

const MAX_NAME = 255;

/**
 * Streams the media of an inbound message from its network. Nothing is stored, and the client sees neither the network's
 * URL nor its token. The headers make it a download: browsers don't run it or guess its type.
 * @throws ApiError `message_not_found`; `media_not_found` if the message has no media; `media_expired` if the network no
 *   longer has the file; `unavailable` if the network does not answer
 */
export async function readMedia(env: Env, caller: Caller, chatId: string, messageId: string): Promise<Response> {
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.media(as, messageId));
  if (answer.outcome !== "ok") {
    throw new ApiError(answer.outcome === "no_message" ? "message_not_found" : "media_not_found");
  }
  const { media, channelId } = answer;
  if ("fileId" in media) throw new ApiError("media_not_found");
  const channel = await channelRecord(env, channelId);
  if (!channel || channel.kind === "web" || "fileId" in media) throw new ApiError("media_not_found");
  const found = await ADAPTERS[channel.kind].media(media.id, channel.credentials, networkOf(env, channel.kind));
  if (found.outcome === "expired") throw new ApiError("media_expired");
  if (found.outcome === "unavailable") throw unavailable(`media: ${found.message}`);
  return new Response(found.body, {
    headers: {
      "Content-Type": found.contentType ?? media.contentType ?? "application/octet-stream",
      "Content-Disposition": disposition(media.fileName),
      "Content-Security-Policy": "sandbox; default-src 'none'",
      ...(found.length !== null && { "Content-Length": String(found.length) }),
    },
  });
}

/** @see RFC 6266, 4.3; RFC 8187 for names that are not ASCII */
function disposition(fileName: string | null): string {
  if (fileName === null) return "attachment";
  const encoded = encodeURIComponent(fileName.slice(0, MAX_NAME).toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
