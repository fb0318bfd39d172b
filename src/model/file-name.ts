import * as z from "zod/mini";

/** Neither a path, nor characters that change how others are shown. */
export const plainFileName = z.refine<string>(
  (name) => !/[/\\\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(name) && !/^\.{1,2}$/.test(name),
  "must be a file name: without slashes, backslashes, control characters and characters that turn the direction of text",
);
