import { expect, test } from "vitest";
import type { Candidate, CandidatesAnswer } from "../../../src/model/search-index.ts";
import { compareCandidates, mergedCandidates } from "../../../src/search/merged-candidates.ts";
import { Random } from "../../support/random.ts";

const at = (time: number, chatId = "a", seq = 1): Candidate => ({ at: time, chatId, seq });

test("candidates are ordered by time, then by chat, then by seq", () => {
  const sorted = [at(3), at(2, "b", 1), at(2, "a", 9), at(2, "a", 8), at(1, "z", 99)];
  expect(sorted.toReversed().sort(compareCandidates)).toEqual(sorted);
});

test("what an index may still have between the others' candidates is left for the next call", () => {
  const answers: CandidatesAnswer[] = [
    { candidates: [at(9), at(7)], hasMore: true },
    { candidates: [at(8), at(5), at(1)], hasMore: false },
  ];
  expect(mergedCandidates(answers)).toEqual({ candidates: [at(9), at(8), at(7)], hasMore: true });
});

test("a message that two indexes have is a candidate once", () => {
  const answers = [at(5), at(4)].map((candidate) => ({ candidates: [at(6), candidate], hasMore: false }));
  expect(mergedCandidates(answers)).toEqual({ candidates: [at(6), at(5), at(4)], hasMore: false });
});

test("no index has anything", () => {
  expect(mergedCandidates([])).toEqual({ candidates: [], hasMore: false });
  expect(mergedCandidates([{ candidates: [], hasMore: false }])).toEqual({ candidates: [], hasMore: false });
});

test.each(Array.from({ length: 50 }, (_, seed) => seed))(
  "page by page, each candidate of all indexes comes once and in order: seed %i",
  (seed) => {
    const random = new Random(seed);
    const all = Array.from({ length: 40 }, (_, n) => at(random.between(1, 15), random.pick(["a", "b"]), n)).sort(
      compareCandidates,
    );
    const indexes: Candidate[][] = [[], [], []];
    for (const candidate of all) {
      random.pick(indexes).push(candidate);
      if (random.next() < 0.1) random.pick(indexes).push(candidate);
    }
    const read: Candidate[] = [];
    for (let hasMore = true; hasMore; ) {
      const limit = random.between(1, 5);
      const before = read.at(-1);
      const page = mergedCandidates(
        indexes.map((index) => {
          const behind = [...new Set(index)].filter((one) => !before || compareCandidates(before, one) < 0);
          return { candidates: behind.slice(0, limit), hasMore: behind.length > limit };
        }),
      );
      read.push(...page.candidates);
      ({ hasMore } = page);
    }
    expect(read).toEqual(all);
  },
);
