import type { Channel, Schemas } from "../api.ts";

export type Kind = Channel["kind"];
export type Check = Schemas["ChannelCheck"];

/** A channel, and what takes a change of it. */
export interface ChannelProps {
  channel: Channel;
  onChannel: (changed: { channel: Channel }) => void;
}

/** The lines that put a web chat on a site. */
export function snippetOf(channelId: string): string {
  return `<script src="${location.origin}/widget.js"\n  data-channel="${channelId}"></script>`;
}
