import { BoundedMap } from "../platform/bounded-map.ts";
import { configured } from "../platform/config.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { hashOf, keyIdOf } from "./key-text.ts";

/** The contents of a key text whose checksum is right. The key itself may not exist. */
export interface WellFormedKey {
  id: string;
  /** SHA-256 of the text. */
  hash: string;
}

/** Longer texts are not cached. No key is as long. */
const MAX_CACHED_LENGTH = 64;

/** Saves the digests of repeated texts. Invented texts have a map of their own, so that they displace no real ones. */
const kept = perIsolate(() => ({
  known: new BoundedMap<string, WellFormedKey>(10_000),
  refused: new BoundedMap<string, true>(1_000),
}));

/** What is remembered of a key text: null if its format or its checksum is wrong, undefined if it was not parsed lately. */
export function rememberedKey(env: Env, text: string): WellFormedKey | null | undefined {
  const { known, refused } = kept(env);
  return known.get(text) ?? (refused.has(text) ? null : undefined);
}

/** Parses a key text without any call. @returns null if the format or the checksum is wrong */
export async function wellFormedKey(env: Env, text: string): Promise<WellFormedKey | null> {
  const remembered = rememberedKey(env, text);
  if (remembered !== undefined) return remembered;
  const { known, refused } = kept(env);
  const id = await keyIdOf(text, [configured(env, "KEY_SECRET"), configured(env, "KEY_SECRET_PREVIOUS")]);
  if (!id) {
    if (text.length <= MAX_CACHED_LENGTH) refused.set(text, true);
    return null;
  }
  const key = { id, hash: await hashOf(text) };
  known.set(text, key);
  return key;
}
