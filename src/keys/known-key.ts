import { BoundedMap } from "../bounded-map.ts";
import { configured } from "../config.ts";
import { keptPerEnv } from "../kept.ts";
import { hashOf, keyIdOf } from "./key-text.ts";

/** A key text whose check letters are right, which says nothing yet of whether there is such a key. */
export interface KnownKey {
  id: string;
  /** SHA-256 of the text. */
  hash: string;
}

/** Spares two digests a request, of a text that comes again and again. */
const remembered = keptPerEnv(() => new BoundedMap<string, KnownKey>(1_000));

/** What a key text names, or null where its form or its check letters are wrong. No one else needs to be asked. */
export async function knownKey(env: Env, text: string): Promise<KnownKey | null> {
  const known = remembered(env).get(text);
  if (known) return known;
  const id = await keyIdOf(text, [configured(env, "KEY_SECRET"), configured(env, "KEY_SECRET_PREVIOUS")]);
  if (!id) return null;
  const key = { id, hash: await hashOf(text) };
  remembered(env).set(text, key);
  return key;
}
