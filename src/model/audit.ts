import type { Principal } from "./caller.ts";
import { timeOfId } from "./id.ts";

/** The rows of the audit log, as the Worker makes them and the organization's object keeps them. */

/** How many rows one actor can write in a day (UTC). */
export const ACTOR_ROWS_A_DAY = 2_000;
/** How many rows all actors of an organization can write in a day. */
export const ORGANIZATION_ROWS_A_DAY = 5_000;

/** Whose daily ceiling of rows is reached. */
export type FullAudit = "actor" | "organization";

/** An act that begins. */
export interface NewAct {
  /** A sortable id, which has the time of the act. */
  id: string;
  actor: Principal;
  action: string;
  target: string | null;
  requestId: string;
  /** The names of the fields that the request sets. */
  changed: string[];
  /** What the requests that share a row have in common, such as an actor's searches of an hour: see `mergedBy`. */
  merged?: string | undefined;
}

/** A row of the audit log. */
export interface Act extends Omit<NewAct, "merged" | "actor"> {
  actor: Omit<Principal, "linkBy">;
  /** Who made the sign-in link with which the actor's session began; null if none did. */
  linkBy: string | null;
  /** The status of the response; null while the request runs, and forever if it broke off. Of the last one, if several. */
  status: number | null;
  /** How many requests the row stands for. */
  count: number;
}

/** An act that ended before the log knew of it. */
export interface EndedAct extends NewAct {
  status: number;
}

/** `false`: there is no such organization, or its log is gone. A text: whose daily ceiling is reached. */
export type BeginAnswer = boolean | FullAudit;

/** How an act ended. */
export interface ActEnd {
  status: number;
  target: string | null;
  merged?: string | undefined;
}

/** Only the acts with all of these values. */
export interface ActFilter {
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
}

/** A page of the log. `cursor` continues it; null if nothing follows. */
export interface ActPage {
  acts: Act[];
  cursor: string | null;
}

const HOUR_MS = 3_600_000;
/** How many bytes a row can have. */
export const MAX_ROW_BYTES = 1_024;

/**
 * What requests that share a row have in common. An actor's searches of an hour share a row, and so do the requests of
 * an hour that continue an export. Beyond the ceilings, so do those that cut off the same target. Sessions that began
 * with links of different makers share no row.
 */
export function mergedBy({ id, actor, action, target }: NewAct, by: "hour" | "target"): string {
  const hour = Math.floor(timeOfId(id) / HOUR_MS);
  const { id: actorId, linkBy } = actor;
  return [hour, actorId, ...(linkBy ? [linkBy] : []), action, ...(by === "target" ? [target] : [])].join(" ");
}

/** An act whose row has at most 1 KiB: the names of actors can be longer, and are cut. */
export function withinRow(act: NewAct): NewAct {
  const { actor } = act;
  const bytesOf = (name: string) =>
    new TextEncoder().encode(JSON.stringify({ ...act, actor: { ...actor, name } })).length;
  if (bytesOf(actor.name) <= MAX_ROW_BYTES) return act;
  const points = [...actor.name];
  while (points.length > 0 && bytesOf(`${points.join("")}…`) > MAX_ROW_BYTES) points.pop();
  return { ...act, actor: { ...actor, name: `${points.join("")}…` } };
}
