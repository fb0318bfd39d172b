/**
 * The directory: organizations and what belongs to them. Messages are in the chats' objects, and counts of requests in
 * the keys' objects. Times are Unix milliseconds. `erasingAt` marks a row that is being deleted: nothing new can be
 * added to it, and the row is deleted last, so an interrupted deletion can be repeated.
 */

export const REGIONS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;
export type Region = (typeof REGIONS)[number];
