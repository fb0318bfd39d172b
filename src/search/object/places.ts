/** The seconds before it have negative numbers. */
const FIRST_SECOND = Date.UTC(2020, 0, 1) / 1_000;
/** The ids of a second. More would make the tables larger: FTS5 stores the difference between two ids for each gram. */
const IDS_A_SECOND = 1_024;

/** The second of a time in Unix milliseconds. */
export function secondOf(at: number): number {
  return Math.floor(at / 1_000) - FIRST_SECOND;
}

/** The second that an id belongs to. */
export function secondOfId(id: number): number {
  return Math.floor(id / IDS_A_SECOND);
}

export function firstIdOf(second: number): number {
  return second * IDS_A_SECOND;
}

export function lastIdOf(second: number): number {
  return firstIdOf(second + 1) - 1;
}
