import type { DeliveryError } from "../../../../../src/chats/object/log/delivery-column.ts";
import type { Outcome } from "../../../../../src/model/network.ts";

export const FAULT: DeliveryError = { code: "network_131026", message: "Undeliverable" };

export const sent = (...parts: string[]): Outcome => ({ outcome: "sent", parts, addresses: [] });
export const unknown = (...parts: string[]): Outcome => ({ outcome: "unknown", message: "No answer", parts });
export const failed = (code = FAULT.code): Outcome & { outcome: "failed" } => ({
  outcome: "failed",
  code,
  message: FAULT.message,
  parts: [],
});

/** An attempt that the network asks to repeat. */
export const retry = (fields: object = {}): Outcome => ({
  outcome: "retry",
  code: "busy",
  message: "Busy",
  afterMs: null,
  wholeChannel: false,
  parts: [],
  ...fields,
});

/** An attempt that failed because of the channel. */
export const broken: Outcome = { outcome: "channel_broken", reason: "Bad token", parts: [] };
