import { effect, signal } from "@preact/signals";
import type { FollowedEvent, TypingEvent } from "../../../client/event.ts";
import { followEvents } from "../../../client/follow-events.ts";
import { apiOf, asParleyError, eventsOf, ParleyError } from "../api.ts";
import { isPassing, repeatLater, repeatNow } from "../repeat-later.ts";
import { currentSession, isSessionLost, may } from "../session.ts";
import { viewQuery } from "./chat-rows.ts";
import { shareStream } from "./shared-stream.ts";
import { showTyping } from "./typing.ts";

/** How the page learns what is new. */
export type Connection = "connecting" | "live" | "polling" | "offline";

/** Something happened, or it is time to ask. `isLeading`: this tab has the stream, and tells the browser's other tabs. */
export type Listener = (event: FollowedEvent | null, isLeading: boolean) => void;

/** People who may not read events, and all beyond the limit of streams, ask this often. */
const POLL_MS = 3_000;
const HIDDEN_POLL_MS = 30_000;
/** The maximum lag of the list of chats, except under heavy load. */
const LIST_LAG_MS = 12_000;
/** The wait before a refused stream is tried again. */
const STREAM_AGAIN_MS = 60_000;
const COUNT_AFTER_MS = 1_500;
const MOST_SHOWN = 99;

/** The connection of the organization's screens. */
export const connection = signal<Connection>("connecting");

/** When the page was last up to date, Unix milliseconds, while it is offline. */
export const upToDateAt = signal(Date.now());

/** The number of unanswered chats, for the menu; empty if there are none. */
export const unansweredCount = signal("");

/** How many streams this tab leads: one, or none. For a moment it can be two. */
export let leading = 0;

effect(() => {
  if (connection.value === "live") repeatNow();
});

const listeners = new Set<Listener>();

/** Calls back on each event, and with null if it is time to load again. @returns a function that ends it */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What the tab with the stream tells the browser's other tabs. */
type News =
  | { event: FollowedEvent | null }
  | { typing: TypingEvent }
  | { connection: Connection; unanswered: string /** The cursor to continue after. */; after: string | undefined };

let lastLine: Line | null = null;

/** Counts the unanswered chats again soon: an act that marks one as answered makes no event. */
export function countSoon(): void {
  lastLine?.countSoon();
}

/** Follows an organization's events until `stop` is called. The tabs of a browser share one stream. */
export function followChanges(organizationId: string): { stop: () => void } {
  const line = new Line(organizationId);
  lastLine = line;
  connection.value = "connecting";
  void line.count();
  void line.run();
  return { stop: () => line.stop() };
}

class Line {
  readonly #organizationId: string;
  readonly #ended = new AbortController();
  readonly #forget: () => void;
  /** The last event's cursor, whichever tab got it from the service. */
  #after: string | undefined;
  /** Whether another tab keeps the count, and this one has loaded what happened before it joined. */
  #isFollowing = false;
  #polling: AbortController | null = null;
  #counting: ReturnType<typeof setTimeout> | undefined;

  constructor(organizationId: string) {
    this.#organizationId = organizationId;
    this.#forget = listen(() => this.#isFollowing || this.countSoon());
  }

  stop(): void {
    this.#ended.abort();
    this.#forget();
    clearTimeout(this.#counting);
    this.#polling?.abort();
  }

  /** Follows the events, by the stream if the person may read it. */
  async run(): Promise<void> {
    const { signal } = this.#ended;
    if (!may("events:read")) return poll(signal);
    await shareStream<News>({
      // Somebody else who signs in may hear of other things.
      name: `parley ${this.#organizationId} ${currentSession().member?.id}`,
      lead: (spread, until) => this.#lead(spread, until),
      take: (news) => this.#take(news),
      greeting: () => this.#greeting(),
      signal,
    });
  }

  #greeting(): News {
    return { connection: connection.value, unanswered: unansweredCount.value, after: this.#after };
  }

  #take(news: News): void {
    if ("event" in news) {
      this.#after = news.event?.cursor || this.#after;
      tell(news.event);
    } else if ("typing" in news) showTyping(news.typing);
    else {
      this.#after = news.after ?? this.#after;
      if (news.connection === "polling") this.#poll();
      else this.#join(news.connection, news.unanswered);
    }
  }

  /** No tab has a stream, so each tab polls. */
  #poll(): void {
    this.#isFollowing = false;
    if (this.#polling) return;
    this.#polling = new AbortController();
    void poll(this.#polling.signal);
  }

  /** Another tab has the stream. */
  #join(state: Connection, unanswered: string): void {
    this.#endPolling();
    unansweredCount.value = unanswered;
    if (state === "offline") lost();
    else connection.value = state;
    if (state !== "live" || this.#isFollowing) return;
    this.#isFollowing = true;
    loadAgain(tell, this.#ended.signal);
  }

  #endPolling(): void {
    this.#polling?.abort();
    this.#polling = null;
  }

  /** Holds the stream, and tells the other tabs what it brings. */
  async #lead(spread: (news: News) => void, signal: AbortSignal): Promise<void> {
    this.#isFollowing = false;
    this.#endPolling();
    const endSpreading = effect(() => spread(this.#greeting()));
    leading++;
    try {
      while (!signal.aborted) await this.#stream(spread, signal);
    } finally {
      leading--;
      endSpreading();
    }
  }

  /** One stream, which reconnects automatically until it can't. */
  async #stream(spread: (news: News) => void, signal: AbortSignal): Promise<void> {
    // A stream over a network that went away can seem open for a minute. A new one begins once the network is back.
    const line = new AbortController();
    const until = AbortSignal.any([signal, line.signal]);
    addEventListener("offline", lost, { signal: until });
    // It may have gone before anyone listened.
    if (!navigator.onLine) lost();
    addEventListener("online", () => line.abort(), { signal: until });
    let isNew = this.#after === undefined;
    const tellAll = (event: FollowedEvent | null) => {
      spread({ event });
      tell(event, true);
    };
    const onTyping = (typing: TypingEvent) => {
      spread({ typing });
      showTyping(typing);
    };
    const onConnection = ({ open }: { open: boolean }) => {
      // An answer that was on its way may come after the network went. The stream that it begins is dead.
      if (!open || !navigator.onLine) return lost();
      connection.value = "live";
      if (isNew) loadAgain(tellAll, until);
      isNew = false;
    };
    const source = eventsOf(this.#organizationId);
    try {
      const events = followEvents(
        {
          ...source,
          stream: (query, ended) => {
            this.#after = query.after || this.#after;
            return source.stream(query, ended);
          },
        },
        { ...(this.#after && { after: this.#after }), signal: until, onConnection, onTyping },
      );
      for await (const event of events) {
        this.#after = event.cursor || this.#after;
        tellAll(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#after = undefined;
      const isExpired = error instanceof ParleyError && error.code === "cursor_expired";
      // Too many streams are open, or the person may no longer read events. Either can change.
      if (!isExpired) await poll(AbortSignal.any([signal, AbortSignal.timeout(STREAM_AGAIN_MS)]));
    } finally {
      line.abort();
    }
  }

  countSoon(): void {
    this.#counting ??= setTimeout(() => {
      this.#counting = undefined;
      void this.count();
    }, COUNT_AFTER_MS);
  }

  readonly #countAgain = () => this.#ended.signal.aborted || void this.count();

  /** Counts the unanswered chats. */
  async count(): Promise<void> {
    if (!may("chats:read")) return;
    try {
      const query = { ...viewQuery("unanswered"), limit: 1 };
      const { pagination } = await apiOf(this.#organizationId).GET("/chats", { query, signal: this.#ended.signal });
      const total = "total" in pagination ? Number(pagination.total) : 0;
      unansweredCount.value = total === 0 ? "" : total > MOST_SHOWN ? `${MOST_SHOWN}+` : String(total);
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      // The count is a hint. The list itself shows what is wrong.
      if (isPassing(asParleyError(error))) repeatLater(this.#countAgain);
    }
  }
}

/** What happened right before the stream began may be in no event and not yet in the list, which lags. */
function loadAgain(tellOf: (event: null) => void, signal: AbortSignal): void {
  tellOf(null);
  const timer = setTimeout(() => tellOf(null), LIST_LAG_MS);
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
    if (!signal.aborted && navigator.onLine && !isSessionLost()) tell(null);
  }
}

function tell(event: FollowedEvent | null, isLeading = false): void {
  for (const listener of listeners) listener(event, isLeading);
}
