import type { Channel, Schemas } from "../api.ts";

export type Kind = Channel["kind"];
export type Check = Schemas["ChannelCheck"];

/** A channel, and what takes a change of it. */
export interface ChannelProps {
  channel: Channel;
  onChannel: (changed: { channel: Channel }) => void;
}
