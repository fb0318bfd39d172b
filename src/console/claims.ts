import * as z from "zod/mini";

const times = { jti: z.string(), iat: z.number(), seenAt: z.number(), exp: z.number() };

/**
 * What the cookie of a session holds. Times are Unix milliseconds. `email` is set if Cloudflare Access vouched for the
 * person.
 */
export const claims = z.union([
  z.object({ kind: z.literal("operator"), email: z.nullable(z.string()), ...times }),
  z.object({ kind: z.literal("member"), memberId: z.string(), email: z.nullable(z.string()), ...times }),
]);
export type Claims = z.output<typeof claims>;

/** Whose session it is. */
export type Subject =
  | { kind: "operator"; email: string | null }
  | { kind: "member"; memberId: string; email: string | null };
