import { fault } from "../http/validation.ts";
import type { ChannelKind } from "../model/channel-kind.ts";
import type { Alike } from "../model/organization.ts";
import type { ChannelSpec } from "./network/spec.ts";
import { ADAPTERS } from "./registry.ts";
import { webSpec } from "./web/spec.ts";

export const KINDS: Record<ChannelKind, ChannelSpec> = { ...ADAPTERS, web: webSpec };

export const CHANNEL_KINDS = Object.keys(KINDS) as ChannelKind[];

/** Other ways to write addresses of a channel. @param isFromNetwork a network wrote them, and no person */
export function alikeOf(kind: ChannelKind, addresses: string[], isFromNetwork: boolean): Alike {
  const forms = addresses.map((address) => KINDS[kind].alike?.(address) ?? { same: [], possible: [] });
  return {
    same: forms.flatMap(({ same }) => same),
    possible: isFromNetwork ? forms.flatMap(({ possible }) => possible) : [],
  };
}

/** The addresses that a text can stand for, by the kinds of channel where it stands for more than itself. */
export function addressForms(text: string): Partial<Record<ChannelKind, string[]>> {
  const kinds = CHANNEL_KINDS.filter((kind) => KINDS[kind].alike);
  return Object.fromEntries(
    kinds.map((kind) => {
      const address = KINDS[kind].address(text) ?? text;
      return [kind, [text, address, ...alikeOf(kind, [address], false).same]];
    }),
  );
}

/**
 * A contact's address as its channel stores it.
 * @throws ApiError `validation_failed` if the text is not an address of this kind
 */
export function contactAddress(kind: ChannelKind, text: string): string {
  const address = KINDS[kind].address(text);
  if (address === null) throw fault("contact.address", KINDS[kind].addressError);
  return address;
}
