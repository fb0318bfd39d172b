/** How far the service's clock is ahead of this computer's, in milliseconds. */
let aheadMs = 0;

/** The time at the service, Unix milliseconds: this computer's clock may be wrong, and a time in a request must not be. */
export function serviceNow(): number {
  return Date.now() + aheadMs;
}

/** Takes the time of a response. Its header has whole seconds, so a small change says nothing. */
export function learnClock(response: Response): void {
  const told = Date.parse(response.headers.get("Date") ?? "");
  if (Number.isNaN(told)) return;
  const difference = told - Date.now();
  if (Math.abs(difference - aheadMs) > 2_000) aheadMs = difference;
}
