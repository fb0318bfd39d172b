import { folded } from "./folding.ts";

/** What a term is taken from. Addresses are listed before names. */
export const TERM_KINDS = ["address", "name"] as const;
type Kind = (typeof TERM_KINDS)[number];

/** A term of a contact: an address, or a word of the name, folded and shortened. */
export interface Term {
  kind: Kind;
  text: string;
}

/** A place in the results: after this term of this chat. While there are no terms to read, after this chat. */
export interface SearchPlace {
  kind: Kind | typeof ALL_CHATS;
  text: string;
  id: string;
}

/** The place of a search that examines all chats, in the order of their ids. */
export const ALL_CHATS = "chat" as const;

/** What a search looks for: the beginning of an address, and the beginnings of words of a name. */
export interface ContactSearch {
  address: string;
  words: string[];
}

/** A contact's name and addresses. */
export interface Contact {
  name: string | null;
  addresses: string[];
}

/** What a place in the results can be behind. */
export const PLACE_KINDS = [...TERM_KINDS, ALL_CHATS] as const;
const MAX_WORDS = 20;
const MAX_TERM = 40;
/** The longest cursor, in characters. */
export const MAX_PLACE = 512;

/** Parses the text of a search; null if it has nothing to look for. */
export function parseSearch(text: string): ContactSearch | null {
  const search = { address: plainAddress(text), words: wordsOf(text) };
  return search.address === "" && search.words.length === 0 ? null : search;
}

/** The terms under which a contact is found. */
export function termsOf({ name, addresses }: Contact): Term[] {
  return [
    ...shortened(addresses.map(plainAddress)).map((text) => ({ kind: "address" as const, text })),
    ...shortened(wordsOfName({ name })).map((text) => ({ kind: "name" as const, text })),
  ];
}

/** The beginning of the terms to read, empty if the search has none of this kind. Of several words, the longest. */
export function prefixOf({ address, words }: ContactSearch, kind: Kind): string {
  const [text = ""] = kind === "address" ? [address] : words.toSorted((one, other) => other.length - one.length);
  return shorten(text);
}

/** Whether a search finds a contact. */
export function finds(search: ContactSearch, contact: Contact): boolean {
  return addressesFound(search, contact).length > 0 || hasAllWords(search, wordsOfName(contact));
}

/**
 * Whether a contact is listed at one of its terms. A contact with several matching terms is listed at one of them only,
 * always the same.
 */
export function isListedAt(search: ContactSearch, contact: Contact, term: Term): boolean {
  const matching = addressesFound(search, contact);
  if (term.kind === "address") return first(shortened(matching)) === term.text;
  if (matching.length > 0) return false;
  const words = wordsOfName(contact);
  const prefix = prefixOf(search, "name");
  return hasAllWords(search, words) && first(shortened(words).filter((word) => word.startsWith(prefix))) === term.text;
}

/** The characters that are folded to compare a contact. */
export function lengthOf({ name, addresses }: Contact): number {
  return addresses.reduce((sum, { length }) => sum + length, name?.length ?? 0);
}

function addressesFound({ address }: ContactSearch, { addresses }: Contact): string[] {
  return address === "" ? [] : addresses.map(plainAddress).filter((each) => each.startsWith(address));
}

function hasAllWords(search: ContactSearch, words: string[]): boolean {
  return search.words.length > 0 && search.words.every((wanted) => words.some((word) => word.startsWith(wanted)));
}

function wordsOfName({ name }: Pick<Contact, "name">): string[] {
  return wordsOf(name ?? "").slice(0, MAX_WORDS);
}

/** An address without the signs that a phone number can have. */
function plainAddress(address: string): string {
  return folded(address).replace(/[\s+()-]/g, "");
}

function wordsOf(name: string): string[] {
  return [...new Set(folded(name).split(/[\s\p{P}]+/u))].filter((word) => word !== "");
}

function shortened(texts: string[]): string[] {
  return [...new Set(texts.map(shorten))].filter((text) => text !== "");
}

function shorten(text: string): string {
  return text.slice(0, MAX_TERM).toWellFormed();
}

function first(texts: string[]): string | undefined {
  return texts.toSorted()[0];
}
