import { tooManyRequests } from "../http/abuse-limit.ts";
import type { Caller } from "../model/caller.ts";
import { MAX_PAGE_TEXT } from "../model/list-page.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";

/** How much text the searches and filters of a caller examine in a window: 32 pages of the dearest kind. */
export const MAX_EXAMINED_TEXT = 32 * MAX_PAGE_TEXT;
const WINDOW_MS = 60_000;

/** What a caller's searches have examined since the window began. Those under way count in full until they end. */
export interface Spent {
  since: number;
  examined: number;
  underWay: number;
}

/** Counted in this isolate: a call to count it would cost more than most searches do. */
const state = perIsolate(() => new BoundedMap<string, Spent>(10_000));

/**
 * Runs a search on behalf of a caller. What it did not examine is given back when it ends. A search whose request is
 * cut off may never end here: it counts in full until the window is over.
 * @throws ApiError `rate_limited`, and what `run` throws
 */
export async function withinBudget<Answer extends { work?: number } | object>(
  env: Env,
  { organizationId, principal }: Pick<Caller, "organizationId" | "principal">,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const callers = state(env);
  const name = `${organizationId} ${principal.type} ${principal.id}`;
  const spent = currentSpent(callers.get(name), Date.now());
  callers.set(name, spent);
  const wait = waitFor(spent, Date.now());
  if (wait !== null) throw tooManyRequests(MAX_EXAMINED_TEXT / MAX_PAGE_TEXT, wait);
  spent.underWay += MAX_PAGE_TEXT;
  try {
    const answer = await run();
    if ("work" in answer) spent.examined += answer.work ?? 0;
    return answer;
  } finally {
    spent.underWay -= MAX_PAGE_TEXT;
  }
}

/** What counts at `now`. A clock that is set back begins a new window. */
export function currentSpent(spent: Spent | undefined, now: number): Spent {
  const isCurrent = spent !== undefined && now >= spent.since && now < spent.since + WINDOW_MS;
  return isCurrent ? spent : { since: now, examined: 0, underWay: 0 };
}

/** The seconds that a caller waits for its next search; null if it may begin. */
export function waitFor({ since, examined, underWay }: Spent, now: number): number | null {
  if (examined + underWay + MAX_PAGE_TEXT <= MAX_EXAMINED_TEXT) return null;
  // If only those under way leave no room, it comes as soon as they end.
  const isUsedUp = examined + MAX_PAGE_TEXT > MAX_EXAMINED_TEXT;
  return isUsedUp ? Math.max(1, Math.ceil((since + WINDOW_MS - now) / 1_000)) : 1;
}
