/** Compares a secret in constant time. Hashing first hides its length. */
export async function isSameSecret(given: string, secret: string): Promise<boolean> {
  const [one, other] = await Promise.all([digest(given), digest(secret)]);
  return crypto.subtle.timingSafeEqual(one, other);
}

function digest(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}
