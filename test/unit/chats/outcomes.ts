import type { Outcome } from "../../../src/channels/adapter.ts";

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
