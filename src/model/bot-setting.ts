import * as z from "zod/mini";
import { bodyId } from "./field.ts";
import { DEFAULT_HAND_OVER_SECONDS, MAX_HAND_OVER_SECONDS, MIN_HAND_OVER_SECONDS } from "./handover.ts";

/** The setting `bot` of a channel. */
export const botSetting = z.object({
  keyId: bodyId,
  handOverAfterSeconds: z.pipe(
    z.nullish(z.int().check(z.gte(MIN_HAND_OVER_SECONDS), z.lte(MAX_HAND_OVER_SECONDS))),
    z.transform((seconds) => seconds ?? DEFAULT_HAND_OVER_SECONDS),
  ),
});
export type BotSetting = z.output<typeof botSetting>;
