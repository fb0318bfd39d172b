import { callObject } from "../../../calls/call-object.ts";
import { bucketOf, type ChatLife, fileKey } from "../../../calls/file-bucket.ts";
import { ADAPTERS, networkOf } from "../../../channels/registry.ts";
import type { NetworkKind } from "../../../model/channel-kind.ts";
import type { ActPort } from "../acts.ts";
import type { NetworkPort } from "./attempt.ts";
import type { FileStore } from "./message-files.ts";
import type { ChannelPort } from "./permit.ts";
import { countParts, sendParts } from "./send-parts.ts";

/** A channel's object, called by RPC. */
export function channelPort(env: Env, channelId: string): ChannelPort {
  return {
    permit: (request) => callObject(env.CHANNELS, channelId, (channel) => channel.permit(request)),
    reportBroken: (report) => callObject(env.CHANNELS, channelId, (channel) => channel.reportBroken(report)),
    reportProbe: (report) => callObject(env.CHANNELS, channelId, (channel) => channel.reportProbe(report)),
    slowDown: (afterMs) => callObject(env.CHANNELS, channelId, (channel) => channel.slowDown(afterMs)),
  };
}

/** The acts of a network, made through its adapter; undefined if it has none. */
export function actPort(env: Env, kind: NetworkKind): ActPort | undefined {
  const { acts } = ADAPTERS[kind];
  return (
    acts && {
      kinds: acts.kinds,
      make: (act, target, credentials, signal) => acts.make(act, target, credentials, networkOf(env, kind), signal),
    }
  );
}

/** A network, called through its adapter. */
export function networkPort(env: Env, kind: NetworkKind): NetworkPort {
  const adapter = ADAPTERS[kind];
  return {
    unknownWaitMs: adapter.unknownWaitMs,
    countParts: (message) => countParts(adapter, message),
    connect() {
      const network = networkOf(env, kind);
      return (message, credentials, signal, files, onPart) =>
        sendParts(adapter, message, credentials, network, signal, files, onPart);
    },
  };
}

/** The files of a chat in R2. Without buckets they are away. */
export function fileStore(env: Env, chat: ChatLife): FileStore {
  return {
    async open(mediaId) {
      try {
        const bucket = bucketOf(env, chat.chatId);
        return bucket ? ((await bucket.get(fileKey({ ...chat, mediaId }))) ?? "gone") : "away";
      } catch {
        return "away";
      }
    },
  };
}
