import { randomUUID } from "node:crypto";
import { CommandError } from "../command-error.ts";
import type { Output } from "./output.ts";
import { Unreachable } from "./service.ts";

/**
 * Makes a call that is safe to repeat. If the service can't be reached, the key to repeat it with is printed.
 * @param given the key of the command line; without one, a new key
 * @throws CommandError if the key can't be a header
 */
export async function withKey<T>(
  given: string | undefined,
  out: Output,
  call: (key: string) => Promise<T>,
): Promise<T> {
  const key = headerText(given ?? randomUUID());
  try {
    return await call(key);
  } catch (error) {
    if (error instanceof Unreachable) out.note(`To repeat the command safely, add --idempotency-key ${key}`);
    throw error;
  }
}

/** An idempotency key as a header can have it. @throws CommandError for another text */
export function headerText(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text;
  throw new CommandError("--idempotency-key must be 1 to 255 ASCII letters, digits or symbols, without spaces.", 2);
}
