import { platform } from "../objects/globals.ts";

/** Replaces `src/calls/channel-record.ts`: a directory that always answers. */
export const channelRecord = async (_env: unknown, channelId: string) => platform.channel(channelId);
