import * as z from "zod/mini";
import { lenient, textField } from "../network/lenient.ts";

/** A phone number or a user id in Meta's form. */
export const person = lenient(z.string().check(z.regex(/^[\w.:-]{1,160}$/)));
export const networkId = z.string().check(z.minLength(1), z.maxLength(512));

export const contact = z.object({
  wa_id: person,
  user_id: person,
  parent_user_id: person,
  profile: lenient(z.object({ name: textField, username: textField })),
});
export type MetaContact = z.output<typeof contact>;

/** The ids that there are, each once. */
export function distinct(ids: (string | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => id !== undefined))];
}
