import type { Candidate, CandidatesAnswer } from "../model/search-index.ts";

/**
 * The candidates of several indexes in their common order, each once. An index that has more than it answered may hold some
 * between the later ones of the others, so these are left for the next call.
 */
export function mergedCandidates(answers: CandidatesAnswer[]): CandidatesAnswer {
  const ends = answers.flatMap(({ candidates, hasMore }) => (hasMore ? (candidates.at(-1) ?? []) : []));
  const isKnown = (candidate: Candidate) => ends.every((end) => compareCandidates(candidate, end) <= 0);
  const all = answers.flatMap(({ candidates }) => candidates).sort(compareCandidates);
  const candidates = all.filter(
    (candidate, at) => isKnown(candidate) && !(at > 0 && compareCandidates(all[at - 1] as Candidate, candidate) === 0),
  );
  return { candidates, hasMore: ends.length > 0 };
}

/** Negative if `one` comes first: the later one, then that with the greater chat id, then that with the greater seq. */
export function compareCandidates(one: Candidate, other: Candidate): number {
  if (one.at !== other.at) return other.at - one.at;
  if (one.chatId !== other.chatId) return one.chatId > other.chatId ? -1 : 1;
  return other.seq - one.seq;
}
