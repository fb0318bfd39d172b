import type { ChannelDescription, NetworkDescription } from "./channel-description.ts";
import { telegramDescription, telegramFailures, telegramRendering } from "./channel-kinds/telegram.ts";
import { webDescription } from "./channel-kinds/web.ts";
import { whatsappDescription, whatsappFailures, whatsappRendering } from "./channel-kinds/whatsapp.ts";
import type { RenderingOf } from "./content.ts";
import { IN_CHATS } from "./in-chats.ts";

const networks = {
  whatsapp: { ...IN_CHATS.whatsapp, ...whatsappDescription },
  telegram: { ...IN_CHATS.telegram, ...telegramDescription },
};

/** The kinds of channel that are networks. */
export type NetworkKind = keyof typeof networks;

/** A kind of channel: a network, or the web chat, which needs no network because visitors read the stored messages. */
export type ChannelKind = NetworkKind | "web";

/** What a person reads about each network. */
export const NETWORKS: Record<NetworkKind, NetworkDescription> = networks;

/** What a person reads about each kind of channel. The simplest is first. */
export const DESCRIPTIONS: Record<ChannelKind, ChannelDescription & Partial<NetworkDescription>> = {
  web: { ...IN_CHATS.web, ...webDescription },
  ...networks,
};

/** The names of the networks, for a sentence: `WhatsApp, Telegram`. */
export function networkLabels(): string {
  return Object.values(NETWORKS)
    .map(({ label }) => label)
    .join(", ");
}

/** The kinds of channel that are networks, for a sentence: `whatsapp, telegram`. */
export function networkKinds(): string {
  return Object.keys(NETWORKS).join(", ");
}

/** The error codes of messages that only one network refuses, and what they mean. */
export const FAILURES: Partial<Record<NetworkKind, Record<string, string>>> = {
  whatsapp: whatsappFailures,
  telegram: telegramFailures,
};

/** How each network shows choices, for a preview. */
export const NETWORK_RENDERINGS: Record<NetworkKind, RenderingOf> = {
  whatsapp: whatsappRendering,
  telegram: telegramRendering,
};
