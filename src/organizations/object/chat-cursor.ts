import { PLACE_KINDS, type SearchPlace } from "../../model/contact-search.ts";
import { isId } from "../../model/id.ts";
import { readOpaque, shortHashOf, writeOpaque } from "../../model/opaque.ts";
import type { ChatFilter } from "../../model/organization.ts";

/** A place in a list that is sorted by a time: behind the chat with this time and id. */
export type Place = { at: number; id: string };

/** A walk of a list of chats, from its first page on. A cursor holds it, and the next page continues it. */
export interface Walk<AnyPlace = Place> {
  place: AnyPlace;
  /** What was the latest when the walk began: the activity, or the number of the organization's last move. */
  start: number;
  /** Whether a chat was left out because it moved since then. */
  hasNewer: boolean;
}

/** A page, and the walk that continues behind it; null if nothing follows. */
export interface WalkedPage<Row, AnyPlace = Place> {
  rows: Row[];
  next: Walk<AnyPlace> | null;
  hasNewer: boolean;
}

type AnyPlace = Place | SearchPlace;

/**
 * A walk as the cursor that the API shows. It has the place itself, because the chat there may move, or be deleted. It is
 * not signed: it selects no rows, so a forged one only starts a walk of the caller's own list elsewhere.
 */
export function printCursor(organizationId: string, filter: ChatFilter, walk: Walk<AnyPlace>): string {
  const { place, start, hasNewer } = walk;
  const values = "at" in place ? [place.at] : [place.kind, place.text];
  return writeOpaque([nameOf(organizationId, filter), start, Number(hasNewer), ...values, place.id]);
}

/** Reads the cursor of a list that is sorted by a time; null if it is not one of this organization's list. */
export function parseCursor(organizationId: string, filter: ChatFilter, cursor: string): Walk | null {
  const [name, start, newer, at, id] = readOpaque(cursor, 5);
  if (name !== nameOf(organizationId, filter) || !isNumber(start) || !isNumber(at) || !isChatId(id)) return null;
  return { place: { at, id }, start, hasNewer: newer === 1 };
}

/** Reads the cursor of a search; null if it is not one of this organization's search. */
export function parseSearchCursor(
  organizationId: string,
  filter: ChatFilter,
  cursor: string,
): Walk<SearchPlace> | null {
  const [name, start, newer, kind, text, id] = readOpaque(cursor, 6);
  const known = PLACE_KINDS.find((each) => each === kind);
  if (name !== nameOf(organizationId, filter) || !isNumber(start) || !isChatId(id)) return null;
  return known && typeof text === "string" ? { place: { kind: known, text, id }, start, hasNewer: newer === 1 } : null;
}

/** What a cursor says of its list, so that another list does not take it: a hash, because a filter can be long. */
function nameOf(organizationId: string, filter: ChatFilter): string {
  const { channel, contact, search, waiting, assignee } = filter;
  const names = ["state", "handler", "person", "label", "optedOut", "mentioned"] as const;
  const whose = [
    ...(assignee === undefined ? [] : [assignee]),
    ...names.flatMap((name) => (filter[name] === undefined ? [] : [{ [name]: filter[name] }])),
  ];
  return shortHashOf([organizationId, channel ?? "", contact ?? "", search ?? "", waiting ?? "", ...whose]);
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isChatId(value: unknown): value is string {
  return typeof value === "string" && isId("cht", value);
}
