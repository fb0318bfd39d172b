interface Sharing<News> {
  /** The tabs of a browser that name the same share one stream. */
  name: string;
  /** Follows the stream and spreads what it brings, until the signal is aborted. */
  lead: (spread: (news: News) => void, signal: AbortSignal) => Promise<void>;
  /** Takes what the tab that leads spreads. */
  take: (news: News) => void;
  /** What the tab that leads tells one that joins. */
  greeting: () => News;
  signal: AbortSignal;
}

/** A visible tab asks this often whether the one that leads is awake. */
const ASK_EVERY_MS = 5_000;

/**
 * Lets one tab of a browser follow a stream for all of them. The browser's lock chooses it. When it closes, another tab
 * gets the lock, and continues after the last event that it heard. Without locks, as on a page without HTTPS, each tab
 * follows its own stream.
 */
export async function shareStream<News>({ name, lead, take, greeting, signal }: Sharing<News>): Promise<void> {
  if (!navigator.locks) return lead(() => {}, signal);
  const channel = new BroadcastChannel(name);
  let isLeading = false;
  let isAwaited = false;
  let waiting = new AbortController();
  const ask = () => {
    isAwaited = true;
    channel.postMessage(null);
  };
  channel.onmessage = ({ data }: MessageEvent<News | null>) => {
    if (data === null) {
      if (isLeading) channel.postMessage(greeting());
    } else if (!isLeading) {
      isAwaited = false;
      take(data);
    }
  };
  const timer = setInterval(() => {
    if (isLeading || document.visibilityState === "hidden") isAwaited = false;
    // A phone puts tabs to sleep that keep their locks. The lock is taken from such a one.
    else if (isAwaited) waiting.abort();
    else ask();
  }, ASK_EVERY_MS);
  try {
    while (!signal.aborted) {
      const isForced = waiting.signal.aborted;
      const taken = new AbortController();
      waiting = new AbortController();
      ask();
      const options = isForced ? { steal: true } : { signal: AbortSignal.any([signal, waiting.signal]) };
      try {
        await navigator.locks.request(name, options, async () => {
          isLeading = true;
          const until = AbortSignal.any([signal, taken.signal]);
          await lead((news) => until.aborted || channel.postMessage(news), until);
        });
      } catch (error) {
        // Another tab took the lock, or this one stopped waiting for it. Anything else means that there are no locks.
        if (!(error instanceof DOMException && error.name === "AbortError")) return await lead(() => {}, signal);
      } finally {
        taken.abort();
        isLeading = false;
      }
    }
  } finally {
    clearInterval(timer);
    channel.close();
  }
}
