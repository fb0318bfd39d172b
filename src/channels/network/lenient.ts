import * as z from "zod/mini";

/**
 * A field of a network's JSON that may be absent. A value of another type counts as absent, so that nothing is lost if
 * the network changes it.
 */
export function lenient<T extends z.ZodMiniType>(schema: T) {
  return z.catch(z.optional(schema), undefined);
}

export const textField = lenient(z.string());
