import type { NetworkKind } from "../model/channel-kind.ts";
import { baseAddress } from "../platform/config.ts";
import type { Adapter, Network } from "./network/adapter.ts";
import { telegram } from "./telegram/adapter.ts";
import { whatsapp } from "./whatsapp/adapter.ts";

/** The adapter of each network. `adapter.ts` describes how to add a network. */
export const ADAPTERS: Record<NetworkKind, Adapter> = { whatsapp, telegram };

/** A network's base URL. It comes only from the configuration, never from a row or a webhook. */
export function networkOf(env: Env, kind: NetworkKind): Network {
  const { variable, defaultUrl } = ADAPTERS[kind].base;
  return { base: baseAddress(env, variable, defaultUrl) };
}
