import type { SearchEntry } from "../search-index.ts";

/** A search result, with the text around the first match. */
export interface Hit {
  entry: SearchEntry;
  excerpt: string;
}

const MAX_HITS = 10;

/** The words of a query in lower case. */
export function queryWords(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

/** The best ten entries that contain all words. A match in a heading scores higher than one in the text. */
export function findEntries(entries: readonly SearchEntry[], words: readonly string[]): Hit[] {
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MAX_HITS)
    .map(({ entry }) => ({ entry, excerpt: excerptOf(entry[3], words) }));
}

/** 0 if a word is missing. */
function scoreOf([page, heading, , text]: SearchEntry, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const found = matchScore(heading, word) * 8 + matchScore(page, word) * 4 + matchScore(text, word);
    if (found === 0) return 0;
    score += found;
  }
  return score;
}

/** 3 for a whole word, 2 for the beginning of a word, 1 for another part, 0 for no match. */
function matchScore(text: string, word: string): number {
  const lower = text.toLowerCase();
  let best = 0;
  for (let at = lower.indexOf(word); at >= 0 && best < 3; at = lower.indexOf(word, at + 1)) {
    const begins = !/[\p{L}\p{N}]/u.test(lower[at - 1] ?? " ");
    const ends = !/[\p{L}\p{N}]/u.test(lower[at + word.length] ?? " ");
    best = Math.max(best, begins ? (ends ? 3 : 2) : 1);
  }
  return best;
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const positions = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const first = positions.length > 0 ? Math.min(...positions) : 0;
  const from = first < 60 ? 0 : text.indexOf(" ", first - 50) + 1;
  return `${from > 0 ? "… " : ""}${text.slice(from, from + 140)}${text.length > from + 140 ? " …" : ""}`;
}
