import { signal } from "@preact/signals";
import type { FollowedEvent } from "../../../client/event.ts";
import { followEvents } from "../../../client/follow-events.ts";
import { apiOf, eventsOf, ParleyError } from "../api.ts";
import { may } from "../session.ts";

/** How the page learns what is new. */
export type Connection = "connecting" | "live" | "polling" | "offline";

/** Something happened, or it is time to ask. */
export type Listener = (event: FollowedEvent | null) => void;

/** People who may not read events, and all beyond the limit of streams, ask this often. */
const POLL_MS = 3_000;
const HIDDEN_POLL_MS = 30_000;
/** The list of chats lags by at most so long, but under heavy load. */
const LIST_LAG_MS = 12_000;
/** Where a stream was refused, it is tried again after so long. */
const STREAM_AGAIN_MS = 60_000;
const COUNT_AFTER_MS = 1_500;
const MOST_SHOWN = 99;

/** The connection of the organization's screens. */
export const connection = signal<Connection>("connecting");

/** When the page was last up to date, Unix milliseconds, while it is offline. */
export const upToDateAt = signal(Date.now());

/** The number of unanswered chats, for the menu; empty if there are none. */
export const unansweredCount = signal("");

const listeners = new Set<Listener>();

/** Calls back on each event, and with null if it is time to load again. @returns a function that ends it */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows an organization's events until `stop` is called. */
export function follow(organizationId: string): { stop: () => void } {
  const controller = new AbortController();
  connection.value = "connecting";
  void countUnanswered(organizationId, controller.signal);
  void run(organizationId, controller.signal);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const forget = listen(() => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void countUnanswered(organizationId, controller.signal);
    }, COUNT_AFTER_MS);
  });
  return {
    stop() {
      controller.abort();
      forget();
      clearTimeout(timer);
    },
  };
}

async function run(organizationId: string, signal: AbortSignal): Promise<void> {
  if (!may("events:read")) return poll(signal);
  let after: string | undefined;
  while (!signal.aborted) {
    // A stream over a network that went away can seem open for a minute. A new one begins once the network is back.
    const line = new AbortController();
    const until = AbortSignal.any([signal, line.signal]);
    addEventListener("offline", lost, { signal: until });
    addEventListener("online", () => line.abort(), { signal: until });
    try {
      const onConnection = ({ open }: { open: boolean }) => {
        if (!open) return lost();
        connection.value = "live";
        if (after === undefined) loadAgain(until);
      };
      const events = followEvents(eventsOf(organizationId), { ...(after && { after }), signal: until, onConnection });
      for await (const event of events) {
        after = event.cursor;
        tell(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      after = undefined;
      const isExpired = error instanceof ParleyError && error.code === "cursor_expired";
      // Too many streams are open, or the person may no longer read events. Either can change.
      if (!isExpired) await poll(AbortSignal.any([signal, AbortSignal.timeout(STREAM_AGAIN_MS)]));
    } finally {
      line.abort();
    }
  }
}

/** What happened right before the stream began may be in no event and not yet in the list, which lags. */
function loadAgain(signal: AbortSignal): void {
  tell(null);
  const timer = setTimeout(() => tell(null), LIST_LAG_MS);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
}

function lost(): void {
  if (connection.value !== "offline") upToDateAt.value = Date.now();
  connection.value = "offline";
}

async function poll(signal: AbortSignal): Promise<void> {
  const onLine = () => {
    connection.value = navigator.onLine ? "polling" : "offline";
    upToDateAt.value = Date.now();
  };
  addEventListener("online", onLine, { signal });
  addEventListener("offline", onLine, { signal });
  onLine();
  while (!signal.aborted) {
    const isHidden = document.visibilityState === "hidden";
    await new Promise((resolve) => setTimeout(resolve, isHidden ? HIDDEN_POLL_MS : POLL_MS));
    if (!signal.aborted && navigator.onLine) tell(null);
  }
}

function tell(event: FollowedEvent | null): void {
  for (const listener of listeners) listener(event);
}

async function countUnanswered(organizationId: string, signal: AbortSignal): Promise<void> {
  try {
    const query = { unanswered: "true", limit: 1 } as const;
    const { pagination } = await apiOf(organizationId).GET("/chats", { query, signal });
    const total = "total" in pagination ? Number(pagination.total) : 0;
    unansweredCount.value = total === 0 ? "" : total > MOST_SHOWN ? `${MOST_SHOWN}+` : String(total);
  } catch {
    // The count is a hint. The list itself shows what is wrong.
  }
}
