/** `warns`: it works but should be changed. `unknown`: it can't be checked. */
export type State = "ok" | "warns" | "fails" | "unknown";

export interface Check {
  /** The subject. */
  what: string;
  state: State;
  /** The finding. It never contains a secret. */
  found: string;
  /** What to do, or null. */
  advice: string | null;
}

/** The result of a check that passed. */
export function ok(what: string, found: string): Check {
  return { what, state: "ok", found, advice: null };
}

/** The result of any other check, with advice. */
export function bad(what: string, state: Exclude<State, "ok">, found: string, advice: string): Check {
  return { what, state, found, advice };
}
