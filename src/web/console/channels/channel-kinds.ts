import type { Channel, Schemas } from "../api.ts";

export type Kind = Channel["kind"];
export type SettingValues = Channel["settings"];
/** Settings that were changed and not saved. Null restores a default. */
export type SettingsChange = { [Name in keyof SettingValues]?: SettingValues[Name] | null };
export type Check = Schemas["ChannelCheck"];

/** A channel, and what takes a change of it. */
export interface ChannelProps {
  channel: Channel;
  onChannel: (changed: { channel: Channel }) => void;
}
