/** Counts by name. A missing name counts 0. */
export type Counts<Name extends string> = Partial<Record<Name, number>>;

export function addCounts<Name extends string>(counts: Counts<Name>, more: Counts<Name>): Counts<Name> {
  const both = { ...counts };
  for (const name of Object.keys(more) as Name[]) both[name] = (both[name] ?? 0) + (more[name] ?? 0);
  return both;
}

/** What is in `counts` beyond `less`, by name. Negative if `less` is greater. */
export function subtractCounts<Name extends string>(counts: Counts<Name>, less: Counts<Name>): Counts<Name> {
  const rest = { ...counts };
  for (const name of Object.keys(less) as Name[]) rest[name] = (rest[name] ?? 0) - (less[name] ?? 0);
  return rest;
}
