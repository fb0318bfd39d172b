import { randomUUID } from "node:crypto";
import type { Measured } from "./driver.ts";
import type { Place } from "./place.ts";
import type { Front } from "./server.ts";

/** What is measured: floors, the literal design, and Parley. */
export interface Case {
  name: string;
  front: Front;
  connections: number;
  /** What the case is compared to: a floor of the same path, and the literal design's answer to the same request. */
  floor?: string;
  literal?: string;
  /** Milliseconds to wait after a turn, where it leaves alarms that would slow down the next case's. */
  rest?: number;
  /** It leaves the process slower than it was: it has its turns after all others, and is compared to none. */
  last?: boolean;
  /** Only where it was asked for: it takes minutes to make. */
  scale?: boolean;
  make(place: Place): Promise<Traffic>;
}

/** What a case sends, once its data is there. */
export interface Traffic {
  request: (n: number) => string;
  /** What each answer must be. */
  status: number;
  /** A remark for the table. */
  note?: string;
  /** For what is no exchange of requests and answers alone. */
  run?: (url: URL) => Promise<Measured>;
}

export const CONNECTIONS = 16;

/** A number that no other turn has used, for what must not come twice. */
export function unique(): string {
  return randomUUID();
}

/** A case of the service at 16 connections. */
export function parley(
  name: string,
  compared: Pick<Case, "floor" | "literal" | "rest" | "last">,
  make: Case["make"],
): Case {
  return { name, front: "parley", connections: CONNECTIONS, ...compared, make };
}
