/** `warns`: not as it should be, and everything works; `unknown`: it can't be told from here. */
export type State = "ok" | "warns" | "fails" | "unknown";

/** One thing that was looked at. */
export interface Check {
  /** What was looked at. */
  what: string;
  state: State;
  /** What was found. Never a secret. */
  found: string;
  /** What to do about it; null where nothing is to be done. */
  advice: string | null;
}

/** A finding that nothing is to be done about. */
export function ok(what: string, found: string): Check {
  return { what, state: "ok", found, advice: null };
}

/** A finding that something is to be done about. */
export function bad(what: string, state: Exclude<State, "ok">, found: string, advice: string): Check {
  return { what, state, found, advice };
}
