/** How much data the cases have. */
export interface Sizes {
  /** Messages in a common chat, in a long one, and in one of the largest. */
  chat: number;
  longChat: number;
  hugeChat: number;
  /** Chats of an organization, and of a large one. */
  chats: number;
  manyChats: number;
  /** Keys that are busy at once, each with a chat of its own: those of some callers, of many, and of a few at a pace. */
  keys: number;
  manyKeys: number;
  pacedKeys: number;
  /** Keys and chats whose objects are not in memory. */
  asleep: number;
  /** Channels, or organizations, whose metrics are read at once. */
  watched: number;
}

export const FULL: Sizes = {
  chat: 10_000,
  longChat: 100_000,
  hugeChat: 1_000_000,
  chats: 10_000,
  manyChats: 1_000_000,
  keys: 100,
  manyKeys: 1_000,
  pacedKeys: 20,
  asleep: 1_000,
  watched: 1_000,
};

/** The number of the last page of 20. */
export function lastPage(messages: number): number {
  return Math.ceil(messages / 20);
}

/** A number as the names of cases show it. */
export function shown(count: number): string {
  return count.toLocaleString("en");
}
