import { and, asc, eq, exists, lt, type SQL } from "drizzle-orm";
import * as z from "zod/mini";
import { directory } from "../../db/client.ts";
import { insertion } from "../../db/rows.ts";
import { members, organizations, passkeys, usedCodes } from "../../db/schema.ts";
import { fault } from "../../http/validation.ts";
import { newIdOf, type RequestAct } from "../../keys/audited.ts";
import { countOfPasskeys } from "../../management/member-passkeys.ts";
import { ApiError } from "../../model/error.ts";
import { requiredText } from "../../model/field.ts";
import { isoTime, isoTimeOrNull } from "../../model/time.ts";
import { useOf } from "../used-codes.ts";
import { type ConsolePlace, checkCreation, creationAnswer, Refusal } from "./ceremony.ts";
import { CHALLENGE_LASTS_MS, newChallenge } from "./challenges.ts";
import { ALGORITHMS, toBase64Url } from "./public-key.ts";

/** How many passkeys a member can have. */
export const MAX_PASSKEYS = 10;

const name = requiredText(100);

/** The body of `POST /passkeys`. */
export const newPasskeyBody = z.object({ name, credential: creationAnswer });

/** The body of `PATCH /passkeys/{id}`. */
export const passkeyPatch = z.object({ name });

/** A member in a session. */
export interface PasskeyOwner {
  organizationId: string;
  memberId: string;
  /** The name of the member. */
  name: string;
  sessionId: string;
  /** When the session began, Unix milliseconds. */
  startedAt: number;
  /** Who made the sign-in link that led to the session. */
  linkBy: string | undefined;
}

/** A member's passkeys, oldest first. */
export async function listPasskeys(env: Env, { memberId }: PasskeyOwner) {
  const found = await directory(env)
    .select()
    .from(passkeys)
    .where(eq(passkeys.memberId, memberId))
    .orderBy(asc(passkeys.createdAt), asc(passkeys.id));
  return found.map(presentPasskey);
}

/**
 * What a browser needs to make a passkey: a `PublicKeyCredentialCreationOptionsJSON`. Stores nothing.
 * @throws ApiError `passkey_limit`; `not_signed_in` if the member's organization was deleted meanwhile
 */
export async function creationOptions(env: Env, { host }: ConsolePlace, owner: PasskeyOwner) {
  const { organizationId, memberId, sessionId } = owner;
  const db = directory(env);
  const [[organization], known] = await db.batch([
    db.select({ name: organizations.name }).from(organizations).where(eq(organizations.id, organizationId)),
    db.select({ id: passkeys.credentialId }).from(passkeys).where(eq(passkeys.memberId, memberId)),
  ]);
  if (!organization) throw new ApiError("not_signed_in");
  // Before the browser makes one that has no place here.
  if (known.length >= MAX_PASSKEYS) throw new ApiError("passkey_limit");
  // A person can be a member of several organizations, and chooses among passkeys by this name.
  const shown = `${owner.name}, ${organization.name}`;
  return {
    rp: { id: host, name: "Parley" },
    user: { id: inBase64(memberId), name: shown, displayName: shown },
    challenge: inBase64(await newChallenge(env, { sessionId }, Date.now())),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
    timeout: CHALLENGE_LASTS_MS,
    // An authenticator makes only one.
    excludeCredentials: known.map(({ id }) => ({ type: "public-key", id })),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    attestation: "none",
  };
}

/**
 * Adds a passkey. The challenge is used up, also if the passkey is refused.
 * @throws ApiError `validation_failed` if the browser's answer does not count; `passkey_limit`; `passkey_exists`;
 *   `not_signed_in` if the member was signed out or deleted meanwhile
 */
export async function addPasskey(
  env: Env,
  place: ConsolePlace,
  owner: PasskeyOwner,
  act: RequestAct,
  { name, credential }: z.output<typeof newPasskeyBody>,
) {
  const { organizationId, memberId, sessionId, startedAt, linkBy } = owner;
  const createdAt = Date.now();
  const made = await checkCreation(env, place, sessionId, credential, createdAt).catch((error: unknown) => {
    throw error instanceof Refusal ? fault("credential", `does not count: ${error.message}`) : error;
  });
  const passkey = {
    id: newIdOf(act),
    organizationId,
    memberId,
    credentialId: made.id,
    host: place.host,
    publicKey: made.publicKey,
    counter: made.counter,
    name,
    linkBy: linkBy ?? null,
    createdAt,
    lastUsedAt: null,
  };
  const db = directory(env);
  const isOwner = eq(members.id, memberId);
  const known = eq(passkeys.credentialId, made.id);
  // A sign-out deletes passkeys and ends sessions in one commit: no session leaves one behind.
  const isSignedIn = and(isOwner, lt(members.sessionsSince, startedAt));
  const hasRoom = and(isSignedIn, lt(members.passkeys, MAX_PASSKEYS));
  const challenge = await useOf(db, made.challenge, made.until, createdAt);
  const [used, [member], taken, inserted] = await db.batch([
    db.select().from(usedCodes).where(challenge.isUsed),
    db.select({ passkeys: members.passkeys }).from(members).where(isSignedIn),
    db.select({ id: passkeys.id }).from(passkeys).where(known),
    insertion(
      db,
      passkeys,
      passkey,
      and(challenge.isUnused, exists(db.select({ id: members.id }).from(members).where(hasRoom))),
    )
      .onConflictDoNothing()
      .returning({ id: passkeys.id }),
    db.update(members).set(countOfPasskeys()).where(isOwner),
    ...challenge.statements,
  ]);
  if (inserted.length > 0) return presentPasskey(passkey);
  if (used.length > 0) throw fault("credential", "does not count: its challenge was used or has expired");
  if (member && member.passkeys >= MAX_PASSKEYS) throw new ApiError("passkey_limit");
  throw new ApiError(member && taken.length > 0 ? "passkey_exists" : "not_signed_in");
}

/** Renames a member's passkey. @throws ApiError `passkey_not_found` */
export async function renamePasskey(env: Env, owner: PasskeyOwner, id: string, patch: z.output<typeof passkeyPatch>) {
  const [passkey] = await directory(env).update(passkeys).set(patch).where(isOf(owner, id)).returning();
  if (!passkey) throw new ApiError("passkey_not_found");
  return presentPasskey(passkey);
}

/** Deletes a member's passkey. Sessions that began with it go on. @throws ApiError `passkey_not_found` */
export async function deletePasskey(env: Env, owner: PasskeyOwner, id: string) {
  const db = directory(env);
  const [[passkey]] = await db.batch([
    db.delete(passkeys).where(isOf(owner, id)).returning(),
    db.update(members).set(countOfPasskeys()).where(eq(members.id, owner.memberId)),
  ]);
  if (!passkey) throw new ApiError("passkey_not_found");
  return presentPasskey(passkey);
}

function isOf({ memberId }: PasskeyOwner, id: string): SQL | undefined {
  return and(eq(passkeys.id, id), eq(passkeys.memberId, memberId));
}

function presentPasskey({ id, name, host, createdAt, lastUsedAt }: typeof passkeys.$inferSelect) {
  return { id, name, host, createdAt: isoTime(createdAt), lastUsedAt: isoTimeOrNull(lastUsedAt) };
}

/** Text as WebAuthn's JSON has bytes. */
export function inBase64(text: string): string {
  return toBase64Url(new TextEncoder().encode(text));
}
