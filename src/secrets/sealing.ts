import { unavailable } from "../model/error.ts";
import { configured } from "../platform/config.ts";

/**
 * Encryption of secrets at rest: AES-256-GCM, as base64 of a version byte, a 12-byte nonce and the ciphertext with its
 * tag. The row's id and the column's name are authenticated too, so a sealed text opens only in its own row and column.
 */
const VERSION = 1;
const NONCE_BYTES = 12;

const encoder = new TextEncoder();
/** Keys and not their promises: when a request ends, the runtime cancels what waits for its promises. */
const imported = new WeakMap<Uint8Array, CryptoKey>();

/** New texts are sealed with `current`. Texts that were sealed with `previous` still open. */
export interface SealingKeys {
  current: Uint8Array<ArrayBuffer>;
  previous: Uint8Array<ArrayBuffer> | undefined;
}

/** The sealing keys of the configuration. @throws ApiError `unavailable` if one is missing or malformed */
export function sealingKeys(env: Env): SealingKeys {
  return { current: configured(env, "CREDENTIALS_KEY"), previous: configured(env, "CREDENTIALS_KEY_PREVIOUS") };
}

/** The row and the column that a text is sealed for. */
export interface SealedCell {
  id: string;
  column: string;
}

/** Seals a text for one column of one row. */
export async function seal(keys: SealingKeys, cell: SealedCell, text: string): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const ciphertext = await crypto.subtle.encrypt(
    parameters(nonce, cell),
    await keyOf(keys.current),
    encoder.encode(text),
  );
  const sealed = new Uint8Array(1 + NONCE_BYTES + ciphertext.byteLength);
  sealed[0] = VERSION;
  sealed.set(nonce, 1);
  sealed.set(new Uint8Array(ciphertext), 1 + NONCE_BYTES);
  return sealed.toBase64();
}

/**
 * Opens a sealed text with the current or the previous key.
 * @throws Error if neither key opens it: it was sealed with another key or for another row or column, or was changed
 */
export async function open(keys: SealingKeys, cell: SealedCell, sealed: string): Promise<string> {
  const bytes = Uint8Array.fromBase64(sealed);
  if (bytes[0] !== VERSION) throw new Error(`${cell.column} of ${cell.id} is sealed with an unknown version`);
  const nonce = bytes.slice(1, 1 + NONCE_BYTES);
  for (const key of [keys.current, keys.previous]) {
    if (!key) continue;
    try {
      const opened = await crypto.subtle.decrypt(
        parameters(nonce, cell),
        await keyOf(key),
        bytes.slice(1 + NONCE_BYTES),
      );
      return new TextDecoder().decode(opened);
    } catch {
      // Try the next key.
    }
  }
  throw new Error(
    `${cell.column} of ${cell.id} can be opened with neither CREDENTIALS_KEY nor CREDENTIALS_KEY_PREVIOUS`,
  );
}

/** Opens a sealed text that a change would lose. @throws ApiError `unavailable` if no configured key opens it */
export function openOrFail(keys: SealingKeys, cell: SealedCell, sealed: string): Promise<string> {
  return open(keys, cell, sealed).catch((error) => Promise.reject(unavailable(error)));
}

function parameters(nonce: Uint8Array<ArrayBuffer>, { id, column }: SealedCell) {
  return { name: "AES-GCM", iv: nonce, additionalData: encoder.encode(`${id}:${column}`) };
}

async function keyOf(key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  let known = imported.get(key);
  if (!known) {
    known = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);
    imported.set(key, known);
  }
  return known;
}
