import { configured } from "../config.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { hashOf, keyIdOf } from "./key-text.ts";

/** A key text whose check letters are right, which says nothing yet of whether there is such a key. */
export interface WellFormedKey {
  id: string;
  /** SHA-256 of the text. */
  hash: string;
}

/** A text of more characters is not worth its memory. No key has as many. */
const MAX_REMEMBERED = 64;

/** Spares the digests of a text that comes again and again. Invented ones are apart, for they are without number. */
const kept = perIsolate(() => ({
  known: new BoundedMap<string, WellFormedKey>(1_000),
  refused: new BoundedMap<string, true>(1_000),
}));

/** What a key text names, or null where its form or its check letters are wrong. No one else needs to be asked. */
export async function wellFormedKey(env: Env, text: string): Promise<WellFormedKey | null> {
  const { known, refused } = kept(env);
  const remembered = known.get(text);
  if (remembered) return remembered;
  if (refused.has(text)) return null;
  const id = await keyIdOf(text, [configured(env, "KEY_SECRET"), configured(env, "KEY_SECRET_PREVIOUS")]);
  if (!id) {
    if (text.length <= MAX_REMEMBERED) refused.set(text, true);
    return null;
  }
  const key = { id, hash: await hashOf(text) };
  known.set(text, key);
  return key;
}
