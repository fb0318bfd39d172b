import type { SearchEntry } from "../search-index.ts";
import { type QueryWord, queryWords, stemOf, wordsIn } from "./words.ts";

/** A search result, with the text around the first match. */
export interface Hit {
  entry: SearchEntry;
  excerpt: string;
  /** The texts to mark in it, in lower case. */
  marks: string[];
}

const MAX_HITS = 10;

/** How much a match counts, by where it is. In a text, it counts more the more often the word comes. */
const IN_HEADING = 8;
const IN_PAGE = 4;
/** How much it counts by how it matches: the same word, another word for it, or the beginning of a word. */
const OTHER = 0.8;
const BEGINNING = 0.5;
/** The factor of a section whose heading has all words. */
const WHOLE = 1.2;

/** Pages about one part or for few people: their answers come after those of the general guides. */
const LESS_WANTED: [prefix: string, factor: number][] = [
  ["/docs/operator/", 0.3],
  ["/docs/reference/errors", 0.15],
  ["/docs/reference/", 0.45],
  ["/docs/changelog", 0.3],
  ["/docs/decisions", 0.4],
  ["/docs/contributing", 0.4],
  ["/docs/guarantees", 0.6],
  ["/docs/performance", 0.7],
  ["/docs/command-line", 0.7],
  ["/docs/client#errors-and-retries", 0.75],
  ["/docs/client", 0.9],
  ["/docs/errors-and-limits#searches", 0.7],
  ["/docs/console", 0.9],
  ["/docs/web-chat", 0.8],
  ["/docs/whatsapp", 0.8],
  ["/docs/telegram", 0.8],
  ["/docs/network-webhooks", 0.8],
  ["/docs/operating", 0.9],
  ["/docs/deploying", 0.7],
  ["/docs#", 0.3],
];

interface Section {
  entry: SearchEntry;
  heading: Set<string>;
  page: Set<string>;
  /** How often each stem is in the text. */
  text: Map<string, number>;
  /** How many words the heading has. */
  length: number;
  factor: number;
}

/** Prepares the search index: a function that finds the best ten entries for the words of a query. */
export function openIndex(entries: readonly SearchEntry[]): (words: readonly QueryWord[]) => Hit[] {
  const sections = entries.map(sectionOf);
  const known = new Set(sections.flatMap(({ heading, page, text }) => [...heading, ...page, ...text.keys()]));
  return (words) => {
    const all = words.map((word) => ({ word, stems: matching(word, known) }));
    // A word that is nowhere would hide everything else.
    const there = all.filter(({ stems }) => stems.size > 0);
    const ranked = sections.map((section) => ({ section, ...rank(section, there) }));
    const most = Math.max(0, ...ranked.map(({ found }) => found));
    // Half of the words is not an answer.
    if (most === 0 || most < there.length / 2) return [];
    const rarity = there.map(({ stems }) => {
      const having = sections.filter((section) => [...stems.keys()].some((stem) => has(section, stem))).length;
      return Math.log(1 + sections.length / having);
    });
    return ranked
      .filter(({ found }) => found === most)
      .map(({ section, scores }) => {
        const isWhole = there.every(({ stems }) => [...stems.keys()].some((stem) => section.heading.has(stem)));
        const sum = scores.reduce((sum, score, at) => sum + score * (rarity[at] ?? 0), 0);
        return { section, score: sum * section.factor * (isWhole ? WHOLE : 1) };
      })
      .toSorted((one, other) => other.score - one.score)
      .slice(0, MAX_HITS)
      .map(({ section: { entry } }) => {
        const marks = [...there.map(({ word }) => word.typed), ...there.flatMap(({ stems }) => [...stems.keys()])];
        return { entry, excerpt: excerptOf(entry[3], marks), marks };
      });
  };
}

function sectionOf(entry: SearchEntry): Section {
  const [page, heading, href, body] = entry;
  const text = new Map<string, number>();
  for (const stem of wordsIn(body).map(stemOf)) text.set(stem, (text.get(stem) ?? 0) + 1);
  const { length } = queryWords(heading || page);
  const factor = LESS_WANTED.find(([prefix]) => href.startsWith(prefix))?.[1] ?? 1;
  return { entry, heading: stemsOf(heading || page), page: stemsOf(heading && page), text, length, factor };
}

/** The stems of a title, and each two neighbors in one piece: `ratelimit`. */
function stemsOf(title: string): Set<string> {
  const words = wordsIn(title);
  return new Set([...words.map(stemOf), ...words.slice(1).map((word, at) => stemOf(`${words[at]}${word}`))]);
}

/** The known stems that a word of a query matches, and how well. */
function matching({ typed, stem, others }: QueryWord, known: ReadonlySet<string>): Map<string, number> {
  const found = new Map<string, number>();
  for (const each of known) {
    const isBeginning = typed.length > 1 && each.startsWith(typed);
    if (isBeginning || isLonger(typed, each)) found.set(each, BEGINNING);
  }
  for (const other of others) if (known.has(other)) found.set(other, OTHER);
  if (known.has(stem)) found.set(stem, 1);
  return found;
}

/** Whether `typed` is a stem with a part of an ending: `templat`. */
function isLonger(typed: string, stem: string): boolean {
  return stem.length >= 4 && typed.length - stem.length <= 4 && typed.startsWith(stem);
}

function has({ heading, page, text }: Section, stem: string): boolean {
  return heading.has(stem) || page.has(stem) || text.has(stem);
}

/** How well an entry fits each word, and how many words it has. */
function rank(section: Section, words: readonly { stems: Map<string, number> }[]) {
  const scores = words.map(({ stems }) => {
    let best = 0;
    for (const [stem, how] of stems) best = Math.max(best, how * scoreOf(section, stem));
    return best;
  });
  return { scores, found: scores.filter((score) => score > 0).length };
}

function scoreOf({ heading, page, text, length, entry }: Section, stem: string): number {
  const times = text.get(stem) ?? 0;
  // A long text has every word sometimes.
  const inText = times / (times + 1 + entry[3].length / 1_000);
  // A short heading that has the word is about it.
  const inHeading = heading.has(stem) ? IN_HEADING * (0.4 + 1 / (1 + length)) : 0;
  return inHeading + (page.has(stem) ? IN_PAGE : 0) + 2 * inText;
}

function excerptOf(text: string, marks: readonly string[]): string {
  const lower = text.toLowerCase();
  const first = marks.map((mark) => lower.indexOf(mark)).find((at) => at >= 0) ?? 0;
  const from = first < 60 ? 0 : text.indexOf(" ", first - 50) + 1;
  return `${from > 0 ? "… " : ""}${text.slice(from, from + 140)}${text.length > from + 140 ? " …" : ""}`;
}
