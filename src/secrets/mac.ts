/** HMAC-SHA-256 of `text` under `key`. */
export async function macOf(key: string, text: string): Promise<ArrayBuffer> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", encoder.encode(key), algorithm, false, ["sign"]);
  return crypto.subtle.sign("HMAC", imported, encoder.encode(text));
}
