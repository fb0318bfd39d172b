import { fault } from "../http/validation.ts";
import type { ChannelKind } from "../model/channel-kind.ts";
import type { ChannelSpec } from "./network/spec.ts";
import { ADAPTERS } from "./registry.ts";
import { webSpec } from "./web/spec.ts";

export const KINDS: Record<ChannelKind, ChannelSpec> = { ...ADAPTERS, web: webSpec };

export const CHANNEL_KINDS = Object.keys(KINDS) as ChannelKind[];

/**
 * A contact's address as its channel stores it.
 * @throws ApiError `validation_failed` if the text is not an address of this kind
 */
export function contactAddress(kind: ChannelKind, text: string): string {
  const address = KINDS[kind].address(text);
  if (address === null) throw fault("contact.address", KINDS[kind].addressError);
  return address;
}
