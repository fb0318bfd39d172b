import * as z from "zod/mini";
import { atMost, wellFormed } from "./field.ts";
import { linkIn } from "./link.ts";

/** Values that several fields of a send take. */

const MAX_URL = 2_048;

/** Copying an object loses its key `__proto__`, so it is refused in fields that the API returns. */
export const noProto = z.refine(
  (value: unknown) => !Object.hasOwn(Object(value), "__proto__"),
  "must not have the key __proto__",
);

/** An https URL without credentials. It goes to the networks; the service never fetches it. */
export const httpsUrl = z.string().check(
  wellFormed,
  ...atMost(MAX_URL),
  // Without the flag `i`, because the OpenAPI document contains this pattern.
  z.regex(/^[Hh][Tt][Tt][Pp][Ss]:\/\/[^\s\\]+$/, { error: "must be an https URL", abort: true }),
  z.refine((text) => linkIn(text) === text, "must be an https URL"),
);

const stringOrNumber = z
  .union([z.string(), z.number()], "must be a string or a number")
  .check(z.refine((value) => typeof value === "number" || value.isWellFormed(), "must be well-formed Unicode"));

/** The values of placeholders. */
export const variablesBody = z.pipe(z.unknown().check(noProto), z.record(z.string(), stringOrNumber));
