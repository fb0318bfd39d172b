import type { ChannelInChats } from "../../channel-description.ts";

export const webInChats: ChannelInChats = { label: "Web chat", icon: "site" };
