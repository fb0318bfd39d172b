/** `window.Parley`: what a site's own code tells the widget, and hears of it. */

/** A user of the site. `expires` is in Unix seconds, as text. */
export interface SiteUser {
  user: string;
  hash: string;
  expires: string | null;
  /** What the chat shows instead of the id. */
  name: string;
}

export interface WidgetCalls {
  open: () => void;
  close: () => void;
  toggle: () => void;
  identify: (user: SiteUser) => void;
  logout: () => void;
}

type Listener = (detail?: unknown) => void;

const EVENTS = ["ready", "open", "close", "unread", "message"] as const;
export type WidgetEvent = (typeof EVENTS)[number];

declare global {
  interface Window {
    /** Before the widget's script has run, an array of calls. */
    Parley?: unknown;
  }
}

/**
 * Publishes the calls as `window.Parley`, and makes those that waited there. The site's code can be wrong, and must not
 * fail because of the widget: a wrong call is a warning. The first widget of a page has the name.
 * @returns what tells the site of an event
 */
export function publishCalls(calls: WidgetCalls): (event: WidgetEvent, detail?: unknown) => void {
  const listeners = new Map<string, Set<Listener>>();
  let isReady = false;

  const notify = (listener: Listener, detail: unknown): void => {
    try {
      listener(detail);
    } catch (error) {
      reportError(error);
    }
  };
  const listenersOf = (event: unknown, listener: unknown): Set<Listener> | null => {
    if (!EVENTS.some((one) => one === event) || typeof listener !== "function") return null;
    const found = listeners.get(event as string) ?? new Set();
    listeners.set(event as string, found);
    return found;
  };
  /** Each call by its name. It returns false for a wrong one. */
  const all = new Map<unknown, (...given: unknown[]) => unknown>(
    Object.entries({
      ...calls,
      identify: (given: unknown) => {
        const user = readUser(given);
        if (user) calls.identify(user);
        return user !== null;
      },
      on: (event: unknown, listener: unknown) => {
        const found = listenersOf(event, listener);
        found?.add(listener as Listener);
        if (found && event === "ready" && isReady) queueMicrotask(() => notify(listener as Listener, undefined));
        return found !== null;
      },
      off: (event: unknown, listener: unknown) => {
        const found = listenersOf(event, listener);
        found?.delete(listener as Listener);
        return found !== null;
      },
    }),
  );
  const make = (name: unknown, given: unknown[]): void => {
    try {
      if (all.get(name)?.(...given) === false || !all.has(name)) {
        console.warn(`Parley: wrong call: ${String(name)}(${given.map((one) => typeof one).join(", ")})`);
      }
    } catch (error) {
      // What the site passes may throw when it is read.
      console.warn("Parley: a call failed:", error);
    }
  };

  const { Parley: waiting } = window;
  if (waiting === undefined || Array.isArray(waiting)) {
    const push = (...added: unknown[]): void => {
      for (const call of added) {
        if (Array.isArray(call)) make(call[0], call.slice(1));
        else make(call, []);
      }
    };
    const named = [...all.keys()].map((name) => [name, (...given: unknown[]) => make(name, given)]);
    window.Parley = { ...Object.fromEntries(named), push };
    push(...(waiting ?? []));
  }

  return (event, detail) => {
    if (event === "ready") isReady = true;
    for (const listener of [...(listeners.get(event) ?? [])]) notify(listener, detail);
  };
}

/** A user as the site names it, in a call or in the script's attributes; null if it is not valid. */
export function readUser(given: unknown): SiteUser | null {
  const { user, hash, expires = null, name = "" } = (given ?? {}) as Record<string, unknown>;
  const until = typeof expires === "number" ? String(expires) : expires;
  if (!user || typeof user !== "string" || typeof hash !== "string" || typeof name !== "string") return null;
  return until === null || typeof until === "string" ? { user, hash, expires: until, name } : null;
}
