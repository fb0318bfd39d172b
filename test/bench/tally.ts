/** What requests cost the platform. */
export interface Tally {
  objectCalls: number;
  /** Round trips to D1. `statements` counts the statements in them. */
  trips: number;
  statements: number;
  /** Rows read, without those that `first` and `raw` read from D1: their results do not contain the number. */
  read: number;
  /** Rows written, as they are billed: in D1, in SQLite and key-value rows of objects, and alarms. */
  written: number;
}
