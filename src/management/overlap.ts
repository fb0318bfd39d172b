import * as z from "zod/mini";
import { optional } from "../model/field.ts";

export const MAX_OVERLAP_SECONDS = 30 * 86_400;

/** The body of a rotation: how long the old secret stays valid. */
export const overlapBody = z.object({
  overlapSeconds: z.pipe(
    optional(z.int().check(z.gte(0), z.lte(MAX_OVERLAP_SECONDS))),
    z.transform((seconds) => seconds ?? 0),
  ),
});
