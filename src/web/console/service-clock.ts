/** How far the service's clock is ahead of this computer's, in milliseconds. */
let aheadMs = 0;

/** The time at the service, Unix milliseconds: this computer's clock may be wrong, and a time in a request must not be. */
export function serviceNow(): number {
  return Date.now() + aheadMs;
}

/**
 * Takes the time of a response: the service wrote it after the request was sent, and before it arrived. So a slow network
 * makes no difference, and a clock that is right is never changed. The header has whole seconds.
 * @param sentAt when the request was sent, by this computer's clock
 */
export function learnClock(response: Response, sentAt: number): void {
  const serverTime = Date.parse(response.headers.get("Date") ?? "");
  if (Number.isNaN(serverTime)) return;
  aheadMs = Math.min(Math.max(aheadMs, serverTime - Date.now()), serverTime + 1_000 - sentAt);
}
