import * as z from "zod/mini";

/** How long a member's session lasts at most. */
export const MEMBER_LASTS_MS = 30 * 86_400_000;

const times = { jti: z.string(), iat: z.number(), seenAt: z.number(), exp: z.number() };

/**
 * What the cookie of a session holds. Times are Unix milliseconds. `email` is set if Cloudflare Access vouched for the
 * person, `passkeyId` if the session began with a passkey. `linkBy` is set if it began with a sign-in link, or with a
 * passkey that was added in such a session: who made the link, the id of a key or a member, or `operator`. `authTime` is
 * when Cloudflare Access made its token: it can begin sessions for hours, without the person.
 */
export const claims = z.union([
  z.object({ kind: z.literal("operator"), email: z.nullable(z.string()), ...times }),
  z.object({
    kind: z.literal("member"),
    memberId: z.string(),
    organizationId: z.string(),
    email: z.nullable(z.string()),
    linkBy: z.optional(z.string()),
    passkeyId: z.optional(z.string()),
    authTime: z.optional(z.number()),
    ...times,
  }),
]);
export type Claims = z.output<typeof claims>;

/** Whose session it is. `usedAt`: when its link or passkey was used, Unix milliseconds. */
export type Subject =
  | { kind: "operator"; email: string | null }
  | {
      kind: "member";
      memberId: string;
      organizationId: string;
      email: string | null;
      linkBy?: string;
      passkeyId?: string;
      authTime?: number;
      usedAt?: number;
    };
