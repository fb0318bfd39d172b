import { baseAddress } from "../config.ts";
import type { Adapter, Network } from "./adapter.ts";
import { telegram } from "./telegram/adapter.ts";
import { whatsapp } from "./whatsapp/adapter.ts";

const adapters = { whatsapp, telegram };

/** The kinds of channel that are networks. */
export type NetworkKind = keyof typeof adapters;

/** The adapter of each network. `adapter.ts` describes how to add a network. */
export const ADAPTERS: Record<NetworkKind, Adapter> = adapters;

/** A network's base URL. It comes only from the configuration, never from a row or a webhook. */
export function networkOf(env: Env, kind: NetworkKind): Network {
  const { variable, defaultUrl } = ADAPTERS[kind].base;
  return { base: baseAddress(env, variable, defaultUrl) };
}
