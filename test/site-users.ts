/** The subprotocols of a user of the site: `hash` is what the site computed. */
export function asUser(user: string, hash: string): string[] {
  return [
    "parley.v1",
    `user.${new TextEncoder().encode(user).toBase64({ alphabet: "base64url", omitPadding: true })}.${hash}`,
  ];
}

/** The hex HMAC-SHA-256 that a site shows for its user. */
export async function signUser(user: string, secret: string): Promise<string> {
  const bytes = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(user))).toHex();
}
