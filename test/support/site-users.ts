/** The subprotocols of a site's user. `hash` is what the site computed. `expires` selects the expiring form. */
export function asUser(user: string, hash: string, expires?: number | string): string[] {
  const id = new TextEncoder().encode(user).toBase64({ alphabet: "base64url", omitPadding: true });
  return ["parley.v1", `user.${id}.${hash}${expires === undefined ? "" : `.${expires}`}`];
}

/** A user's hash without an expiry: hex HMAC-SHA-256 of the id. */
export function signUser(user: string, secret: string): Promise<string> {
  return sign("SHA-256", user, secret);
}

/** A user's expiring hash: hex HMAC-SHA-512 of the expiry in Unix seconds, a dot and the id. */
export function signUserUntil(user: string, expires: number | string, secret: string): Promise<string> {
  return sign("SHA-512", `${expires}.${user}`, secret);
}

async function sign(hash: string, text: string, secret: string): Promise<string> {
  const bytes = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), { name: "HMAC", hash }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(text))).toHex();
}
