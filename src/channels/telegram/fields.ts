import * as z from "zod/mini";
import { lenient } from "../network/lenient.ts";

export const integerField = lenient(z.int());

/** The fields of a value; none if it is not an object. */
export function fields(value: unknown): Record<string, unknown> {
  return value instanceof Object ? (value as Record<string, unknown>) : {};
}
