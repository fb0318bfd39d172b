import * as z from "zod/mini";

/** Fields of Meta's webhooks. A value of another type counts as absent, so that nothing is lost if Meta changes it. */

export const anyText = z.catch(z.optional(z.string()), undefined);
/** A phone number or a user id in Meta's form. */
export const person = z.catch(z.optional(z.string().check(z.regex(/^[\w.:-]{1,160}$/))), undefined);
export const networkId = z.string().check(z.minLength(1), z.maxLength(512));

export const contact = z.object({
  wa_id: person,
  user_id: person,
  parent_user_id: person,
  profile: z.catch(z.optional(z.object({ name: anyText, username: anyText })), undefined),
});
export type MetaContact = z.output<typeof contact>;

/** The ids that there are, each once. */
export function distinct(ids: (string | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => id !== undefined))];
}
