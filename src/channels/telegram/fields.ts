import * as z from "zod/mini";

/** Fields of Telegram's updates. */

/** A field that may be absent. A value of another type counts as absent, so that no message is lost if Telegram changes it. */
export function lenient<T extends z.ZodMiniType>(schema: T) {
  return z.catch(z.optional(schema), undefined);
}

export const textField = lenient(z.string());
export const integerField = lenient(z.int());

/** The fields of a value; none if it is no object. */
export function fields(value: unknown): Record<string, unknown> {
  return value instanceof Object ? (value as Record<string, unknown>) : {};
}
