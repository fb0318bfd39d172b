/** Other words for a command's action. */
const SYNONYMS: Record<string, string[]> = {
  list: ["ls", "index", "all"],
  create: ["add", "new", "make"],
  show: ["get", "view", "read", "describe", "info"],
  change: ["update", "edit", "set", "patch", "modify"],
  delete: ["remove", "rm", "erase", "destroy"],
  revoke: ["delete", "remove", "rm", "disable", "erase", "destroy"],
};

/** The command that was probably meant by `words`, or null. */
export function nearestCommand(names: string[], words: string[]): string | null {
  const [group = "", action = ""] = words;
  const plural = names.find((name) => name.split(" ")[0] === `${group}s`) ? `${group}s` : group;
  const synonym = names.find((name) => {
    const [ofName, word = ""] = name.split(" ");
    return ofName === plural && (word === action || SYNONYMS[word]?.includes(action));
  });
  return synonym ?? nearest(words.slice(0, 2).join(" "), names) ?? nearest(group, names);
}

/** The candidate that differs from `word` in the fewest letters, at most about a third of them. Null if none is near. */
export function nearest(word: string, candidates: string[]): string | null {
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of candidates) {
    const distance = distanceOf(word, candidate);
    const isNear = distance <= Math.ceil(Math.max(word.length, candidate.length) / 3);
    if (isNear && (!best || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** The Levenshtein distance: how many letters must be inserted, removed or replaced. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [at, other] of [...to].entries()) {
      const replaced = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
