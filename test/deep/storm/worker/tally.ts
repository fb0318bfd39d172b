/** The path of the storms' Worker that reports on D1: `PUT` with `{ down }` begins or ends an outage, `GET` only reads. */
export const DIRECTORY_PATH = "/storm/directory";

/** What D1 was asked for since the Worker started. */
export interface DirectoryTally {
  calls: number;
  rowsWritten: number;
  /** The calls that failed because of the outage. */
  failed: number;
}
