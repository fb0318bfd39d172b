import type { Chat } from "./api.ts";

/** Spaces and invisible characters before a text. */
const UNSEEN_FIRST = /^[\s\p{Cc}\p{Cf}]+/u;

/** A name with something to see in it; else null. */
export function seenName(name: string | null): string | null {
  return name?.replace(UNSEEN_FIRST, "") ? name : null;
}

/** What a contact is called. A visitor without a name has a random address, whose end tells visitors apart. */
export function contactName({ contact, channel }: Pick<Chat, "contact" | "channel">): string {
  const isRandom = channel.kind === "web" && contact.address.startsWith("web_");
  return seenName(contact.name) ?? (isRandom ? `Visitor ${contact.address.slice(-4)}` : contact.address);
}

/** The first letters of a name's first two words. */
export function initialsOf(name: string): string {
  const [one = "", two = ""] = name.replace(UNSEEN_FIRST, "").split(/\s+/u);
  return (firstLetter(one) + firstLetter(two)).toLocaleUpperCase();
}

/** A letter with its marks, or a whole emoji. */
function firstLetter(word: string): string {
  const shown = word.replace(UNSEEN_FIRST, "");
  // Firefox has it since version 125.
  if (!("Segmenter" in Intl)) return [...shown][0] ?? "";
  const [first] = new Intl.Segmenter().segment(shown);
  return first?.segment ?? "";
}
