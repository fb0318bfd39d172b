/** Counts by name. A missing name counts 0. */
export type Counts<Name extends string> = Partial<Record<Name, number>>;

/** The sums of two counts. */
export function addCounts<Name extends string>(counts: Counts<Name>, more: Counts<Name>): Counts<Name> {
  const both = { ...counts };
  for (const name of Object.keys(more) as Name[]) both[name] = (both[name] ?? 0) + (more[name] ?? 0);
  return both;
}
