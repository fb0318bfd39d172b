import { fault } from "../http/validation.ts";
import { ADAPTERS, type NetworkKind } from "./registry.ts";
import type { ChannelSpec } from "./spec.ts";
import { webSpec } from "./web/spec.ts";

/** The kinds of channel: the networks, and the web chat, which is none: its messages are where its visitors read them. */
export type ChannelKind = NetworkKind | "web";

/** What each kind of channel is given. */
export const KINDS: Record<ChannelKind, ChannelSpec> = { ...ADAPTERS, web: webSpec };

/** The kinds by their names. */
export const CHANNEL_KINDS = Object.keys(KINDS) as ChannelKind[];

/**
 * A contact's address as its channel stores it.
 * @throws ApiError `validation_failed` for a text that is no address there
 */
export function contactAddress(kind: ChannelKind, text: string): string {
  const address = KINDS[kind].address(text);
  if (address === null) throw fault("contact.address", KINDS[kind].addressError);
  return address;
}
