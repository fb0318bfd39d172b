import { randomUUID } from "node:crypto";
import { Mistake } from "../support/mistake.ts";
import { drive, type Load, type Measured } from "./driver.ts";
import type { Place } from "./fixtures.ts";
import type { Front } from "./server.ts";

/** What is measured: floors, the literal design, and Parley. */
export interface Case {
  name: string;
  front: Front;
  connections: number;
  /** Requests a second, over all connections, at most. Without it each connection sends as fast as it is answered. */
  perSecond?: number;
  /** The names of the cases to compare with: a floor of the same path, and the literal design with the same request. */
  floor?: string;
  literal?: string;
  goal?: Goal;
  /** Milliseconds to wait after a turn, if its alarms would slow down the turn of the next case. */
  rest?: number;
  /**
   * Its requests run for a while before each turn. Objects that were not called for ten seconds are not in memory, and a
   * key's object gives no units ahead in its first second.
   */
  warm?: boolean;
  /** What the service does after its requests is measured too: reports, alarms, counts. */
  followed?: boolean;
  /** Only for `--scale`, because its data takes minutes to make. */
  scale?: boolean;
  make(place: Place): Promise<Traffic>;
}

/**
 * What the service should reach. With the name of another case in `to`: the ratio of rates at least, of p50s at most.
 * Without it: the p50 in ms, or the calls of objects for a request, at most.
 */
export type Goal = { to: string; of: "rate" | "p50"; must: number } | { to: null; of: "p50" | "calls"; must: number };

/** What a case sends, once its data is there. */
export interface Traffic extends Pick<Load, "request" | "different" | "statuses"> {
  /** For a case that needs more than requests and responses. */
  run?: (url: URL, turn: CaseTurn) => Promise<Measured>;
}

/** A turn of a case with `run`. */
export interface CaseTurn {
  seconds: number;
  /** Sends the case's requests for that time, as for a case without `run`. */
  drive: () => Promise<Measured>;
}

export const CONNECTIONS = 16;
/** Of one caller at a pace. */
export const PER_SECOND = 20;
/** For how many turns there are requests that are sent once in a run. */
const MAX_TURNS = 20;

/** Traffic of one request that is sent again and again. */
export function same(request: string, status: number): Traffic {
  return { request: () => request, different: 1, statuses: [status] };
}

/** Traffic of these requests, in turn. */
export function inTurn(requests: string[], ...statuses: number[]): Traffic {
  return { request: (n) => requests[n % requests.length] as string, different: requests.length, statuses };
}

/** Traffic that sends each request once. `request` makes a new one with each call. */
export function eachOnce(request: () => string, status: number): Traffic {
  return { request, different: Number.POSITIVE_INFINITY, statuses: [status] };
}

/** Traffic of which each request is sent once in a run, a part of them in each turn. */
export function onceInARun(requests: string[], status: number): Traffic {
  const inATurn = Math.ceil(requests.length / MAX_TURNS);
  let sent = 0;
  return {
    request: (n) => requests[n % requests.length] as string,
    different: requests.length,
    statuses: [status],
    run: (url) => {
      const some = requests.slice(sent, (sent += inATurn));
      if (some.length === 0)
        throw new Mistake(`The cold cases have objects for ${MAX_TURNS} turns. Use fewer --rounds`);
      const load = { url, connections: 1, request: (n: number) => some[n] as string, different: some.length };
      return drive({ ...load, statuses: [status] }, { requests: some.length });
    },
  };
}

/** Callers at a pace, with a connection each. */
export function paced(callers: number): Pick<Case, "connections" | "perSecond"> {
  return { connections: callers, perSecond: callers * PER_SECOND };
}

/** An id that is never used again. */
export function unique(): string {
  return randomUUID();
}

/** A warm case of the service with 16 connections. */
export function parley(
  name: string,
  compared: Pick<Case, "floor" | "literal" | "goal" | "rest" | "followed">,
  make: Case["make"],
): Case {
  return { name, front: "parley", connections: CONNECTIONS, warm: true, ...compared, make };
}
