import type { Place } from "./hold.ts";

/** Runs that once failed, by the test that they failed in; each is run first. What a failing run prints goes in here. */
export const KEPT_SEEDS: Record<string, Place[]> = {};
