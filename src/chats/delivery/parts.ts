import type { Outcome } from "../../channels/adapter.ts";
import type { Message } from "../message.ts";
import { type DeliveryError, statusAfter } from "./retry.ts";

/**
 * A message takes one call to its network, or two. Each is a message there, with an id and a status of its own; what
 * they make of ours is decided here, as functions that know of no storage and no clock.
 */

type ToldStatus = "SENT" | "DELIVERED" | "READ" | "FAILED";

/** How far a part is, as the network told. */
interface PartState {
  status: ToldStatus;
  error: DeliveryError | null;
}

/** What the network told of one of its ids. */
export interface PartNews {
  networkId: string;
  status: ToldStatus;
  /** `broken`: the network refuses the channel itself, and in which words. */
  error: (DeliveryError & { broken?: string }) | null;
  /** It named our message; else another program may have sent what it is about. */
  isOurs: boolean;
}

export interface Parts {
  /** How many there are. */
  of: number;
  /** The network's ids of those that are out, in their order. */
  ids: string[];
  /** By their order, where there are several: null is no further than SENT. Of a single part the message's status is its own. */
  states?: (PartState | null)[];
  /** By their order: how many attempts nobody answered, so that a copy may be out under an id that nobody knows. */
  lost?: number[];
  /** What was told of ids that nobody knows yet: the answer that names them may be under way. */
  early?: PartNews[];
}

/** The parts in a row. A message that takes one call, or was not tried yet, has no `of`. */
export type StoredParts = Omit<Parts, "of"> & { of?: number };

/** What is known of a message on its way. */
export interface Known {
  status: Message["status"];
  error: DeliveryError | null;
  parts: Parts;
  /** How many attempts were begun. */
  attempts: number;
  /** Whether the last one is still without its outcome. */
  isOpen: boolean;
  /** The news that failed it said that the network refuses the channel itself. */
  broken?: string;
}

/** More than the statuses of a message and its repeat. */
const MAX_EARLY = 8;

/**
 * What a message becomes by what the network told of a part. The news may come before the answer to the send, twice or
 * late, and of a copy that was sent before a repeat. @returns null where it is of no part of this message
 */
export function applyNews(known: Known, news: PartNews): Known | null {
  const { ids, lost } = known.parts;
  if (known.status === "RECEIVED") return known;
  const index = ids.indexOf(news.networkId);
  if (index >= 0) return told(known, index, news);
  if (!news.isOurs) return isUnderWay(known) ? keep(known, news) : null;
  const [only, ...others] = unnamedParts(known);
  if (only === undefined) return known;
  if (others.length > 0) return keep(known, news);
  const isOut = only < ids.length;
  if (news.status === "FAILED") {
    // A copy of an earlier attempt: what was sent since stands for the part.
    if (isOut && known.attempts > 1) return known;
    // One of several copies, of which another may come through.
    if (!isOut && (lost?.[only] ?? 0) + Number(known.isOpen) > 1) return keep(known, news);
  }
  return told(isOut ? known : named(known, only, news.networkId), only, news);
}

/** An answer named the part of this number: what was told of it before the answer counts from here. */
export function partOut(known: Known, index: number, networkId: string): Known {
  return told(named(known, index, networkId), index, { networkId, status: "SENT", error: null });
}

/**
 * What an attempt's outcome says of the parts: those from the `first`th on that it sent, and one more that may be out
 * where nobody answered. `parts` are the ids of all that are out, those before `first` included.
 */
export function attemptOver(
  known: Known,
  first: number,
  { outcome, parts }: { outcome: Outcome["outcome"]; parts: readonly string[] },
): Known {
  const begun = outcome === "sent" ? { ...known, parts: { ...known.parts, of: parts.length } } : known;
  const over = parts.slice(first).reduce((each, id, i) => partOut(each, first + i, id), begun);
  // Told in the meantime that the part in turn is out: then it was not lost.
  if (outcome !== "unknown" || over.parts.ids.length > parts.length) return over;
  return withLost(over, parts.length, 1);
}

/** Nothing is under way any more: what nobody could place by now is of other messages. */
export function withoutEarly(parts: Parts): Parts {
  const { early: _, ...rest } = parts;
  return rest;
}

/** Those parts of which a copy may be out under an id that nobody knows. */
function unnamedParts({ parts: { ids, of, lost }, isOpen }: Known): number[] {
  const inDoubt = Array.from({ length: of }, (_, i) => i).filter(
    (i) => (lost?.[i] ?? 0) > 0 || (i === ids.length && isOpen),
  );
  if (inDoubt.length > 0) return inDoubt;
  if (ids.length < of) return [ids.length];
  return of === 1 ? [0] : [];
}

function isUnderWay({ status, isOpen, parts }: Known): boolean {
  return isOpen || (status === "QUEUED" && (parts.lost?.some((count) => count > 0) ?? false));
}

function keep(known: Known, news: PartNews): Known {
  if (!isUnderWay(known)) return known;
  const { early = [] } = known.parts;
  const before = early.find(({ networkId }) => networkId === news.networkId);
  if (before && !statusAfter(before.status, news.status)) return known;
  const kept = [...early.filter((one) => one !== before), news].slice(-MAX_EARLY);
  return { ...known, parts: { ...known.parts, early: kept } };
}

/** The part of this number is out under this id; where it had another, that was a copy. */
function named(known: Known, index: number, networkId: string): Known {
  const before = known.parts.ids[index];
  if (before === networkId) return known;
  const ids = [...known.parts.ids];
  ids[index] = networkId;
  const after = { ...known, parts: { ...known.parts, ids } };
  // Of the attempts that nobody answered, this is what became of one.
  return before !== undefined || !known.isOpen ? withLost(after, index, -1) : after;
}

function withLost(known: Known, index: number, more: 1 | -1): Known {
  const { parts } = known;
  const lost = Array.from({ length: parts.of }, (_, i) => parts.lost?.[i] ?? 0);
  const count = (lost[index] ?? 0) + more;
  return count < 0 ? known : { ...known, parts: { ...parts, lost: lost.with(index, count) } };
}

type News = Omit<PartNews, "isOurs">;

/** Applies news of the part of this number, and what was told of the same id before. */
function told(known: Known, index: number, news: News): Known {
  const { early = [] } = known.parts;
  const after = toldOnce(known, index, news);
  const same = early.filter(({ networkId }) => networkId === news.networkId);
  if (same.length === 0) return after;
  const rest = early.filter(({ networkId }) => networkId !== news.networkId);
  const parts = rest.length > 0 ? { ...after.parts, early: rest } : withoutEarly(after.parts);
  return same.reduce((each, one) => toldOnce(each, index, one), { ...after, parts });
}

function toldOnce(known: Known, index: number, news: News): Known {
  const states = statesOf(known);
  const status = statusAfter(states[index]?.status ?? "QUEUED", news.status);
  const { code, message, broken } = news.error ?? { code: "network_error", message: "The network gave no reason" };
  if (status) states[index] = { status, error: status === "FAILED" ? { code, message } : null };
  const parts = known.parts.of === 1 || !status ? known.parts : { ...known.parts, states };
  const next = messageState(states);
  const change = next && messageAfter(known, next, news.status);
  if (!change) return parts === known.parts ? known : { ...known, parts };
  const isBroken = change.status === "FAILED" && news.status === "FAILED" && broken !== undefined;
  return { ...known, parts, status: change.status, error: change.error, ...(isBroken && { broken }) };
}

/** How far each part is; null: not out, as far as is known. */
function statesOf({ parts: { of, ids, states } }: Known): (PartState | null)[] {
  const sent: PartState = { status: "SENT", error: null };
  return Array.from({ length: of }, (_, i) => states?.[i] ?? (i < ids.length ? sent : null));
}

const RANK = { FAILED: 0, SENT: 1, DELIVERED: 2, READ: 3 } as const;

/** What its parts make of a message: as far as the least of them, FAILED with the first that failed; null: not all out. */
function messageState(states: (PartState | null)[]): PartState | null {
  let least: PartState | null = { status: "READ", error: null };
  for (const state of states) {
    if (state?.status === "FAILED") return state;
    if (!state) least = null;
    else if (least && RANK[state.status] < RANK[least.status]) least = state;
  }
  return least;
}

/** A FAILED message is proven wrong by a part that came through; then it is as far as its parts are, forward or not. */
function messageAfter({ status, error }: Known, next: PartState, news: ToldStatus): PartState | null {
  if (status !== "FAILED") return statusAfter(status, next.status) && next;
  if (news !== "DELIVERED" && news !== "READ") return null;
  return next.status === "FAILED" && next.error?.code === error?.code ? null : next;
}
