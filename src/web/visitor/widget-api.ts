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
  const listeners = new Map<unknown, Set<Listener>>(EVENTS.map((event) => [event, new Set()]));
  let isReady = false;

  const notify = (listener: Listener, detail?: unknown): void => {
    try {
      listener(detail);
    } catch (error) {
      reportError(error);
    }
  };
  const listen = (change: "add" | "delete") => (event: unknown, listener: unknown) => {
    const found = listeners.get(event);
    if (!found || typeof listener !== "function") return false;
    found[change](listener as Listener);
    if (change === "add" && event === "ready" && isReady) queueMicrotask(() => notify(listener as Listener));
    return true;
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
      on: listen("add"),
      off: listen("delete"),
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
        const [name, ...given] = [call].flat();
        make(name, given);
      }
    };
    const named = [...all.keys()].map((name) => [name, (...given: unknown[]) => make(name, given)]);
    window.Parley = { ...Object.fromEntries(named), push };
    push(...(waiting ?? []));
  }

  return (event, detail) => {
    if (event === "ready") isReady = true;
    for (const listener of [...(listeners.get(event) as Set<Listener>)]) notify(listener, detail);
  };
}

/** A user as the site names it, in a call or in the script's attributes; null if it is not valid. */
export function readUser(given: unknown): SiteUser | null {
  const { user, hash, expires = null, name = "" } = (given ?? {}) as Record<string, unknown>;
  const until = typeof expires === "number" ? String(expires) : expires;
  const isValid = user && [user, hash, until ?? "", name].every((each) => typeof each === "string");
  return isValid ? ({ user, hash, expires: until, name } as SiteUser) : null;
}
