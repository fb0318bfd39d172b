import type { Schemas } from "../api.ts";

export type Reply = Schemas["SavedReply"];

/**
 * Prepares saved replies for a search.
 * @returns a function that finds those that words can mean. One with this shortcut comes first, then those whose shortcut
 *   or name begins so, those with the words in the name, and those with them anywhere. Equal ones come by name, as all do
 *   without words. Case, width and accents make no difference
 */
export function replyFinder(replies: readonly Reply[]): (words: string) => Reply[] {
  const sorted = replies.toSorted((one, other) => one.name.localeCompare(other.name));
  const all = sorted.map((reply) => {
    const [shortcut, name, content] = [reply.shortcut ?? "", reply.name, reply.content].map(plain);
    return { reply, shortcut, name, any: `${shortcut}\n${name}\n${content}` };
  });
  return (words) => {
    const wanted = plain(words.trim());
    const each = wanted.split(/\s+/);
    const rankOf = ({ shortcut = "", name = "", any }: (typeof all)[number]) =>
      [
        shortcut === wanted,
        shortcut.startsWith(wanted),
        name.startsWith(wanted),
        name.includes(wanted),
        each.every((word) => any.includes(word)),
      ].indexOf(true);
    if (wanted === "") return all.map(({ reply }) => reply);
    const ranked = all.map((one) => ({ reply: one.reply, rank: rankOf(one) }));
    return ranked
      .filter(({ rank }) => rank >= 0)
      .sort((one, other) => one.rank - other.rank)
      .map(({ reply }) => reply);
  };
}

function plain(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toUpperCase();
}
