/**
 * The statuses with which Cloudflare answers a Worker's `fetch` in place of the called host. Locally the call fails
 * instead. `mayBeSent`: the host may have the request.
 * @see https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/
 */
const STATUSES = new Map([
  [520, { mayBeSent: true, message: "The host's answer could not be read" }],
  [521, { mayBeSent: false, message: "The host refused the connection" }],
  [522, { mayBeSent: false, message: "The connection to the host timed out" }],
  [523, { mayBeSent: false, message: "The host can't be reached" }],
  [524, { mayBeSent: true, message: "The host did not answer in time" }],
  [525, { mayBeSent: false, message: "The TLS handshake with the host failed" }],
  [526, { mayBeSent: false, message: "The host's TLS certificate is not valid" }],
  [527, { mayBeSent: true, message: "The connection to the host was lost" }],
  [530, { mayBeSent: false, message: "The host's name was not found in DNS, or leads to no public address" }],
]);

/** What a status means with which Cloudflare says that a host did not answer; null for a status of the host itself. */
export function unansweredStatus(status: number): { mayBeSent: boolean; message: string } | null {
  const known = STATUSES.get(status);
  return known ? { ...known, message: `${known.message} (Cloudflare's status ${status})` } : null;
}
