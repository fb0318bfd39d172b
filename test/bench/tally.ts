/** What requests cost the platform. */
export interface Tally {
  objectCalls: number;
  /** Round trips to D1, and the statements in them. */
  trips: number;
  statements: number;
  /** Rows written, as they are billed: of D1, of objects' SQLite, their key-value rows and alarms. */
  rows: number;
}
