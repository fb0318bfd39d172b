import { configured } from "../config.ts";
import type { ChannelKind } from "../db/schema.ts";
import type { Adapter, Network } from "./adapter.ts";
import { telegram } from "./telegram/adapter.ts";
import { whatsapp } from "./whatsapp/adapter.ts";

/** The kinds of channel that are networks. A web chat is none: its messages are where its visitors read them. */
export type NetworkKind = Exclude<ChannelKind, "web">;

/** The networks that messages are delivered through. */
export const ADAPTERS: Record<NetworkKind, Adapter> = { whatsapp, telegram };

/** Where a network is. It comes from the configuration alone, never from a row or a webhook. */
export function networkOf(env: Env, kind: NetworkKind): Network {
  return { base: configured(env, kind === "telegram" ? "TELEGRAM_API_BASE" : "WHATSAPP_API_BASE") };
}
