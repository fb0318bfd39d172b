import {
  type Attempt,
  breakChannel,
  type ChannelPace,
  grantPermit,
  INITIAL_PACE,
} from "../../../../src/channels/object/pace.ts";

export const NOW = Date.parse("2026-11-20T12:00:00.000Z");
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const FAR = NOW + 20 * SECOND;
export const ATTEMPT = { probe: null, epoch: 0 };
export const PROBE = { probe: 1, epoch: 0 };

/** A channel that works, as an attempt has just shown. */
export const proven = (fields: Partial<ChannelPace> = {}): ChannelPace => ({
  ...INITIAL_PACE,
  provenAt: NOW,
  ...fields,
});
export const broken = (fields: Partial<ChannelPace> = {}) =>
  breakChannel({ ...INITIAL_PACE, ...fields }, "Bad token", ATTEMPT, NOW);

/** Asks for a permit, on a channel with ten starts a second. */
export function ask(
  pace: ChannelPace,
  {
    reservedAt = null as number | null,
    canWait = true,
    brokenEpoch = null as number | null,
    now = NOW,
    random = 0,
  } = {},
) {
  return grantPermit(pace, { reservedAt, canWait, brokenEpoch }, 10, now, random);
}

/** A broken channel whose probe was granted when it was due. */
export function probing(
  pace = broken(),
  brokenEpoch: number | null = null,
): { pace: ChannelPace; attempt: Attempt; now: number } {
  const now = Math.max(pace.breaker?.probeAt ?? 0, brokenEpoch === null ? 0 : (pace.breaker?.repeatAt ?? 0));
  const { permit, pace: after } = ask(pace, { now, brokenEpoch });
  if (permit.outcome !== "granted") throw new Error(`the probe is ${permit.outcome}`);
  return { pace: after, attempt: { probe: permit.probe, epoch: after.epoch, brokenEpoch }, now };
}
