/** How many files of one uploader, and how many bytes of them, may wait in a chat for a message that names them. */
export const MAX_UNUSED_FILES = 100;
export const MAX_UNUSED_BYTES = 256 * 1_024 * 1_024;
/** The reservation of an upload ends after this time. The upload itself gives up after half of it. */
export const RESERVED_MS = 600_000;
/** A file that no message names is deleted after a day. */
export const UNUSED_MS = 86_400_000;
