/** The largest file, in bytes. */
export const MAX_FILE_BYTES = 16 * 1_024 * 1_024;
export const MAX_FILE_NAME = 255;
