import type { Message } from "./message.ts";

/** The object of an index: an organization has several, counted from 1. */
export interface IndexOwner {
  organizationId: string;
  number: number;
}

/** A message of a chat as an index holds it. */
export interface IndexedMessage {
  seq: number;
  /** When it was created, Unix milliseconds. */
  at: number;
  direction: Message["direction"];
  /** What a search compares, as `folded` returns it. */
  text: string;
}

/** What changed in a chat. The index does the removals first. Repeating it changes nothing. */
export interface IndexChange {
  chatId: string;
  /** A chat that was created again has a greater life. The index then forgets what it said before. */
  life: number;
  channelId: string;
  /** Messages that are new, or have another text now. */
  put: IndexedMessage[];
  /** The seqs of messages that no longer have a text. */
  remove: number[];
  /** All messages up to this seq were deleted; 0 for none. */
  removeUpTo: number;
}

/** `isFull`: later messages should go to the next index. `gone`: the index was erased, and stays empty. */
export type IndexAnswer = { outcome: "ok"; isFull: boolean } | { outcome: "gone" };

/** A message that may contain what is searched: its chat must verify it. */
export interface Candidate {
  at: number;
  chatId: string;
  seq: number;
}

export interface CandidatesAsked {
  /** At least two UTF-16 units, as `folded` returns it. */
  search: string;
  /** Only messages behind this one in the order: the latest `at` first, then the greater chat id, then the greater seq. */
  before: Candidate | null;
  channelId: string | null;
  direction: Message["direction"] | null;
  /** Unix milliseconds, both included; null for no bound. */
  since: number | null;
  until: number | null;
  limit: number;
}

/** In the order that `before` describes. `hasMore`: there may be others behind the last one. */
export interface CandidatesAnswer {
  candidates: Candidate[];
  hasMore: boolean;
}

/** Where the chats of an organization put their messages while its search is on. */
export interface SearchTargets {
  isOn: boolean;
  /** It grows when the search is turned on or off, or gets new indexes. A report about an earlier one is late. */
  generation: number;
  /** The index of new messages. */
  live: number;
  /** The index of the messages that were there before. */
  fill: number;
  /** Before when, Unix milliseconds. */
  begunAt: number;
}

/** The search of an organization, as its settings show it. */
export interface SearchState {
  state: "off" | "filling" | "on";
  /** How many chats the last fill has asked for what they said before, of how many. */
  done: number;
  total: number;
}

/** `filled_today`: a client began a fill in the last 24 hours. */
export type SearchAnswer = { outcome: "ok" | "filled_today"; search: SearchState } | { outcome: "no_organization" };
