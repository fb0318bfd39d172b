/** The largest file, in bytes. */
export const MAX_FILE_BYTES = 16 * 1_024 * 1_024;
export const MAX_FILE_NAME = 255;
/** R2 answers at once: what takes longer is an outage. */
export const R2_DEADLINE_MS = 10_000;
