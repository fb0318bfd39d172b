import * as z from "zod/mini";
import { locationBody, MAX_CHOICE_ID, oneLine } from "./content-schema.ts";
import {
  atMost,
  bodyId,
  httpsUrl,
  notBlankIfGiven,
  optional,
  plainFileName,
  variablesBody,
  wellFormed,
} from "./field.ts";

/** The values of a send for a template's header and buttons. */

const MAX_FILE_NAME = 240;
export const MAX_TEMPLATE_BUTTONS = 10;
const MAX_SUFFIX = 2_000;
const MAX_COUPON = 15;

const value = (max: number) => optional(z.string().check(notBlankIfGiven, wellFormed, oneLine, ...atMost(max)));

/** Sorted, so that their order in the body makes no difference. */
const headerVariables = z.pipe(
  variablesBody,
  z.transform((variables) =>
    Object.fromEntries(Object.entries(variables).toSorted(([one], [other]) => (one < other ? -1 : 1))),
  ),
);

export const templatePartsBody = z.object({
  header: optional(
    z.object({
      mediaUrl: optional(httpsUrl),
      mediaId: optional(bodyId),
      fileName: optional(z.string().check(notBlankIfGiven, wellFormed, plainFileName, ...atMost(MAX_FILE_NAME))),
      variables: optional(headerVariables),
      location: optional(locationBody),
    }),
  ),
  buttons: optional(
    z
      .array(
        z.object({
          index: z.int().check(z.gte(0), z.lt(MAX_TEMPLATE_BUTTONS)),
          urlSuffix: value(MAX_SUFFIX),
          payload: value(MAX_CHOICE_ID),
          code: value(MAX_COUPON),
        }),
      )
      .check(z.maxLength(MAX_TEMPLATE_BUTTONS)),
  ),
});
