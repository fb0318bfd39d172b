/** No host name is longer. The origin is stored in the socket's attachment, whose size is limited. */
const MAX_ORIGIN = 300;

/**
 * Whether a page of `origin` may open a visitor's socket. The service's own page always may. Other pages may if the
 * channel's `allowedOrigins` include their origin or are empty. Every browser sends `Origin` when it opens a socket, and
 * no script can change it, so a channel with allowed origins refuses a request without the header.
 */
export function isAllowedOrigin(
  origin: string | null,
  ownOrigin: string,
  allowedOrigins: readonly string[] | undefined,
): boolean {
  if (origin !== null && origin.length > MAX_ORIGIN) return false;
  if (!allowedOrigins || allowedOrigins.length === 0) return true;
  return origin !== null && (origin === ownOrigin || allowedOrigins.includes(origin));
}
