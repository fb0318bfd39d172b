import { and, eq, isNull, lt } from "drizzle-orm";
import type * as z from "zod/mini";
import { directory } from "../../db/client.ts";
import { organizations, passkeys } from "../../db/schema.ts";
import { ApiError } from "../../model/error.ts";
import type { Subject } from "../../model/session.ts";
import { keepSignIn } from "../sign-in-links.ts";
import { useOf } from "../used-codes.ts";
import { type ConsolePlace, checkSignIn, Refusal, type signInAnswer } from "./ceremony.ts";
import { CHALLENGE_LASTS_MS, newChallenge } from "./challenges.ts";
import { inBase64 } from "./passkeys.ts";

/**
 * What a browser needs to sign somebody in: a `PublicKeyCredentialRequestOptionsJSON`. It names no credential, because
 * nobody has said yet who is there: the person chooses among the passkeys that the browser has for this host.
 */
export async function signInOptions(env: Env, { host }: ConsolePlace) {
  return {
    rpId: host,
    challenge: inBase64(await newChallenge(env, "sign-in", Date.now())),
    timeout: CHALLENGE_LASTS_MS,
    userVerification: "required",
  };
}

/**
 * Signs a member in with a passkey. An answer counts once.
 * @throws ApiError `passkey_refused`
 */
export async function takePasskey(
  env: Env,
  place: ConsolePlace,
  answer: z.output<typeof signInAnswer>,
): Promise<Subject> {
  try {
    return await subjectOf(env, place, answer);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new ApiError("passkey_refused", { text: `The passkey was refused: ${error.message}. Use a sign-in link` });
  }
}

async function subjectOf(env: Env, place: ConsolePlace, answer: z.output<typeof signInAnswer>): Promise<Subject> {
  const db = directory(env);
  const row = await db
    .select({ passkey: passkeys })
    .from(passkeys)
    .innerJoin(organizations, eq(organizations.id, passkeys.organizationId))
    .where(and(eq(passkeys.credentialId, answer.id), isNull(organizations.erasingAt)))
    .get();
  if (!row) throw new Refusal("it is unknown here, or was deleted");
  const { id, organizationId, memberId, host, linkBy: madeBy } = row.passkey;
  if (host !== place.host) throw new Refusal("it is for another host");
  const at = Date.now();
  const answered = await checkSignIn(env, place, row.passkey, answer, at);
  const { counter } = answered;
  // An authenticator that counts has never given a signature with this number. One that does not count always says 0.
  const isNew = counter === 0 ? eq(passkeys.counter, 0) : lt(passkeys.counter, counter);
  const stored = row.passkey.counter;
  if ((counter > 0 || stored > 0) && counter <= stored) {
    console.warn({ event: "passkey_counter_fell", passkeyId: id, memberId });
    throw new Refusal("its counter fell, so it may be a copy");
  }
  const challenge = await useOf(db, answered.challenge, answered.until, at);
  const isIt = eq(passkeys.id, id);
  const isTaken = and(isIt, eq(passkeys.lastUsedAt, at));
  const [taken] = await db.batch([
    db
      .update(passkeys)
      .set({ lastUsedAt: at, counter })
      .where(and(isIt, isNew, challenge.isUnused))
      .returning({ id: passkeys.id }),
    ...challenge.statements,
    ...(madeBy === null ? [] : [keepSignIn(db, { organizationId, madeBy, memberId, at }, passkeys, isTaken)]),
  ]);
  if (taken.length === 0) throw new Refusal("its challenge was used or has expired");
  const linkBy = madeBy === null ? {} : { linkBy: madeBy };
  return { kind: "member", memberId, organizationId, email: null, passkeyId: id, usedAt: at, ...linkBy };
}
