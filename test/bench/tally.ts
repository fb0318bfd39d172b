/** What requests cost the platform. */
export interface Tally {
  objectCalls: number;
  /** Round trips to D1, and the statements in them. */
  trips: number;
  statements: number;
  /** Rows read, but for what `first` and `raw` read of D1, who tell nothing of it. */
  read: number;
  /** Rows written, as they are billed: of D1, of objects' SQLite, their key-value rows and alarms. */
  written: number;
}
