/** No host has a longer name, and what let a socket in is kept with it. */
const MAX_ORIGIN = 300;

/**
 * Whether a page of `origin` may open a visitor's socket: our own page always, and others where the channel's
 * `allowedOrigins` name them, or where it names none. Every browser sends `Origin` with a socket and no script can
 * change it; a channel with a list refuses what has none.
 */
export function isAllowedOrigin(
  origin: string | null,
  own: string,
  allowedOrigins: readonly string[] | undefined,
): boolean {
  if (origin !== null && origin.length > MAX_ORIGIN) return false;
  if (!allowedOrigins || allowedOrigins.length === 0) return true;
  return origin !== null && (origin === own || allowedOrigins.includes(origin));
}
