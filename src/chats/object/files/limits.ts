/** How many files of a chat, and how many bytes of them, may wait for a message that names them. */
export const MAX_UNUSED_FILES = 100;
export const MAX_UNUSED_BYTES = 256 * 1_024 * 1_024;
/** An upload that has not ended by then is forgotten. It gives up in half of that. */
export const RESERVED_MS = 600_000;
/** A file that no message names is deleted after a day. */
export const UNUSED_MS = 86_400_000;
