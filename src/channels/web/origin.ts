/** No host has a longer name. The origin is kept with the socket, whose attachment is limited in size. */
const MAX_ORIGIN = 300;

/**
 * Whether a page of `origin` may open a visitor's socket. Our own page always may. Other pages may if the channel's
 * `allowedOrigins` name their origin or are empty. Every browser sends `Origin` with a socket and no script can change
 * it, so a channel with a list refuses a request without one.
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
