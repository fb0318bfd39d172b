import type { Message } from "../../../model/message.ts";
import type { Outcome } from "../../../model/network.ts";
import type { DeliveryError, NetworkStatus, PartNews, PartState, Parts } from "../log/delivery-column.ts";
import { statusAfter } from "./retry.ts";

/**
 * A message takes one or two calls to its network. Each call creates a part: a message on the network with its own id and
 * status. These pure functions derive our message's status from its parts.
 */

/** The state of a message's delivery. */
export interface Known {
  status: Message["status"];
  error: DeliveryError | null;
  parts: Parts;
  /** The number of attempts started. */
  attempts: number;
  /** Whether the last attempt has no outcome yet. */
  isOpen: boolean;
  /** The reason, if the failure's status says that the network refuses the whole channel. */
  broken?: string;
}

/** More than a message and its repeat can have. */
const MAX_EARLY = 8;

/**
 * Applies a status to a message. It may come before the answer to the send, twice or late, and it may be of a copy from an
 * earlier attempt.
 * @returns null if the status is of no part of this message
 */
export function applyNews(known: Known, news: PartNews): Known | null {
  const { ids, lost } = known.parts;
  if (known.status === "RECEIVED") return known;
  const index = ids.indexOf(news.networkId);
  if (index >= 0) return withStatus(known, index, news);
  if (!news.isOurs) return isOutcomeOpen(known) ? withEarly(known, news) : null;
  const [only, ...others] = unnamedParts(known);
  if (only === undefined) return known;
  if (others.length > 0) return withEarly(known, news);
  const isOut = only < ids.length;
  if (news.status === "FAILED") {
    // A copy from an earlier attempt failed. The later attempt counts for the part.
    if (isOut && known.attempts > 1) return known;
    // One of several copies failed. Another one may succeed.
    if (!isOut && (lost?.[only] ?? 0) + Number(known.isOpen) > 1) return withEarly(known, news);
  }
  return withStatus(isOut ? known : withId(known, only, news.networkId), only, news);
}

/** Stores the id of a part that was sent, and applies early statuses of that id. */
export function partOut(known: Known, index: number, networkId: string): Known {
  return withStatus(withId(known, index, networkId), index, { networkId, status: "SENT", error: null });
}

/**
 * Stores the parts that an attempt sent. If the last call got no answer, one more part may have been sent.
 * @param first the index of the attempt's first part
 * @param outcome its `parts` are the ids of all parts sent, including those of earlier attempts
 */
export function attemptOver(
  known: Known,
  first: number,
  { outcome, parts }: { outcome: Outcome["outcome"]; parts: readonly string[] },
): Known {
  const before = outcome === "sent" ? { ...known, parts: { ...known.parts, of: parts.length } } : known;
  const after = parts.slice(first).reduce((each, id, i) => partOut(each, first + i, id), before);
  // A status has confirmed the part in the meantime, so it was not lost.
  if (outcome !== "unknown" || after.parts.ids.length > parts.length) return after;
  return withLost(after, parts.length, 1);
}

/** Drops early statuses. After the last attempt, they can only be of other messages. */
export function withoutEarly(parts: Parts): Parts {
  const { early: _, ...rest } = parts;
  return rest;
}

/** The indexes of parts that may have been sent with an unknown id. */
function unnamedParts({ parts: { ids, of, lost }, isOpen }: Known): number[] {
  const inDoubt = Array.from({ length: of }, (_, i) => i).filter(
    (i) => (lost?.[i] ?? 0) > 0 || (i === ids.length && isOpen),
  );
  if (inDoubt.length > 0) return inDoubt;
  if (ids.length < of) return [ids.length];
  return of === 1 ? [0] : [];
}

/** Whether a part with an unknown id may have been sent. */
function isOutcomeOpen({ status, isOpen, parts }: Known): boolean {
  return isOpen || (status === "QUEUED" && (parts.lost?.some((count) => count > 0) ?? false));
}

function withEarly(known: Known, news: PartNews): Known {
  if (!isOutcomeOpen(known)) return known;
  const { early = [] } = known.parts;
  const before = early.find(({ networkId }) => networkId === news.networkId);
  if (before && !statusAfter(before.status, news.status)) return known;
  const kept = [...early.filter((one) => one !== before), news].slice(-MAX_EARLY);
  return { ...known, parts: { ...known.parts, early: kept } };
}

/** Sets the id of a part. If the part had another id, that was a copy. */
function withId(known: Known, index: number, networkId: string): Known {
  const before = known.parts.ids[index];
  if (before === networkId) return known;
  const ids = [...known.parts.ids];
  ids[index] = networkId;
  const after = { ...known, parts: { ...known.parts, ids } };
  // The id belongs to one of the attempts without an answer.
  return before !== undefined || !known.isOpen ? withLost(after, index, -1) : after;
}

function withLost(known: Known, index: number, more: 1 | -1): Known {
  const { parts } = known;
  const lost = Array.from({ length: parts.of }, (_, i) => parts.lost?.[i] ?? 0);
  const count = (lost[index] ?? 0) + more;
  return count < 0 ? known : { ...known, parts: { ...parts, lost: lost.with(index, count) } };
}

type News = Omit<PartNews, "isOurs">;

/** Applies a status to a part, and the early statuses of the same id. */
function withStatus(known: Known, index: number, news: News): Known {
  const { early = [] } = known.parts;
  const after = withOneStatus(known, index, news);
  const same = early.filter(({ networkId }) => networkId === news.networkId);
  if (same.length === 0) return after;
  const rest = early.filter(({ networkId }) => networkId !== news.networkId);
  const parts = rest.length > 0 ? { ...after.parts, early: rest } : withoutEarly(after.parts);
  return same.reduce((each, one) => withOneStatus(each, index, one), { ...after, parts });
}

function withOneStatus(known: Known, index: number, news: News): Known {
  const states = statesOf(known);
  const status = statusAfter((states[index] as PartState).status, news.status);
  const { code, message, broken } = news.error ?? { code: "network_error", message: "The network gave no reason" };
  if (status) states[index] = { status, error: status === "FAILED" ? { code, message } : null };
  const parts = known.parts.of === 1 || !status ? known.parts : { ...known.parts, states };
  const next = messageState(states);
  const change = next && messageAfter(known, next, news.status);
  if (!change) return parts === known.parts ? known : { ...known, parts };
  const isBroken = change.status === "FAILED" && news.status === "FAILED" && broken !== undefined;
  return { ...known, parts, status: change.status, error: change.error, ...(isBroken && { broken }) };
}

/** The state of each part; null if it was not sent, as far as known. */
function statesOf({ parts: { of, ids, states } }: Known): (PartState | null)[] {
  const sent: PartState = { status: "SENT", error: null };
  return Array.from({ length: of }, (_, i) => states?.[i] ?? (i < ids.length ? sent : null));
}

const RANK = { FAILED: 0, SENT: 1, DELIVERED: 2, READ: 3 } as const;

/** The message's state: FAILED if a part failed, else the least advanced part's state; null if a part was not sent. */
function messageState(states: (PartState | null)[]): PartState | null {
  let least: PartState | null = { status: "READ", error: null };
  for (const state of states) {
    if (state?.status === "FAILED") return state;
    if (!state) least = null;
    else if (least && RANK[state.status] < RANK[least.status]) least = state;
  }
  return least;
}

/** The message's new state, or null. A FAILED message takes the state of its parts if one of them is delivered. */
function messageAfter({ status, error }: Known, next: PartState, news: NetworkStatus): PartState | null {
  if (status !== "FAILED") return statusAfter(status, next.status) && next;
  if (news !== "DELIVERED" && news !== "READ") return null;
  return next.error?.code === error?.code ? null : next;
}
