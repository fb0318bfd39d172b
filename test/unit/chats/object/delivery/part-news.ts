import type { Known } from "../../../../../src/chats/object/delivery/parts.ts";
import type { PartNews, Parts } from "../../../../../src/chats/object/log/delivery-column.ts";

export const FAULT = { code: "network_131026", message: "Undeliverable" };
export const BROKEN = { code: "network_131042", message: "No payment", broken: "131042: No payment" };

/** A message in its first attempt, with one part unless `parts` says otherwise. */
export function message(parts: Partial<Parts> = {}, known: Partial<Known> = {}): Known {
  return { status: "QUEUED", error: null, attempts: 1, isOpen: true, ...known, parts: { of: 1, ids: [], ...parts } };
}

/** A status that names our message, unless `fields` say otherwise. */
export function news(networkId: string, status: PartNews["status"], fields: Partial<PartNews> = {}): PartNews {
  return { networkId, status, error: status === "FAILED" ? FAULT : null, isOurs: true, ...fields };
}
