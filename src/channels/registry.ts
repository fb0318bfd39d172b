import { baseAddress } from "../config.ts";
import type { Adapter, Network } from "./adapter.ts";
import { telegram } from "./telegram/adapter.ts";
import { whatsapp } from "./whatsapp/adapter.ts";

const adapters = { whatsapp, telegram };

/** The kinds of channel that are networks. */
export type NetworkKind = keyof typeof adapters;

/** The networks that messages are delivered through. A further one is a folder beside theirs, and its name above. */
export const ADAPTERS: Record<NetworkKind, Adapter> = adapters;

/** Where a network is. It comes from the configuration alone, never from a row or a webhook. */
export function networkOf(env: Env, kind: NetworkKind): Network {
  const { variable, defaultUrl } = ADAPTERS[kind].base;
  return { base: baseAddress(env, variable, defaultUrl) };
}
