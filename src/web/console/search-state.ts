import { useEffect } from "preact/hooks";
import type { Organization } from "./api.ts";
import { usePlace } from "./organization.ts";
import { may } from "./session.ts";

const ASK_EVERY_MS = 5_000;

/** Whether all messages can be searched, and how far their index is. Asked again, and while it is being filled again and again. */
export function useSearchState(): Organization["search"] {
  const { organization, refresh } = usePlace();
  const { id, search } = organization;
  const isFilling = search?.state === "filling";
  useEffect(() => {
    // The next answer says it.
    const ask = () => void refresh().catch(() => {});
    ask();
    const timer = isFilling && setInterval(ask, ASK_EVERY_MS);
    return () => clearInterval(timer || undefined);
  }, [id, isFilling]);
  return search;
}

/** Whether the person may turn the search over all messages on and off. */
export function mayTurnSearch(): boolean {
  return may("channels:write") && may("messages:read");
}
