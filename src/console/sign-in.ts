import { eq } from "drizzle-orm";
import * as z from "zod/mini";
import { directory } from "../db/client.ts";
import { usedCodes } from "../db/schema.ts";
import { fault } from "../http/validation.ts";
import { hashOfLink } from "../management/sign-in-link.ts";
import { ApiError } from "../model/error.ts";
import { atMost, optional } from "../model/field.ts";
import type { Subject } from "../model/session.ts";
import { configured } from "../platform/config.ts";
import { isSameSecret } from "../secrets/compare.ts";
import { OPERATOR_CODE_LASTS_MS, signatureOfCode } from "../secrets/operator-code.ts";
import { ACCESS_HEADER, isOperatorEmail, personOfAccess } from "./access.ts";
import type { ConsoleContext } from "./context.ts";
import { findMembersByEmail } from "./member-rows.ts";
import { passkeyPlace, signInAnswer } from "./passkeys/ceremony.ts";
import { takePasskey } from "./passkeys/take-passkey.ts";
import { personOf } from "./people.ts";
import { beginSession, readSession } from "./session.ts";
import { findLink, takeLink } from "./sign-in-links.ts";
import { useOf } from "./used-codes.ts";

const OPERATOR_CODE = /^operator\.(\d{1,15})\.([0-9A-Za-z]{22})\.([0-9a-f]{64})$/;

const proof = z.string().check(...atMost(1_000));

const viaAccess = z.object({ memberId: optional(z.string()) });

/**
 * The body of `POST /console/session`: the operator's token, the code of a sign-in link, what a browser answered for a
 * passkey, or `access` for the person for whom Cloudflare Access vouches, with a `memberId` if several members have this
 * person's email.
 */
export const signInBody = z
  .object({
    token: optional(proof),
    code: optional(proof),
    passkey: optional(signInAnswer),
    access: optional(viaAccess),
  })
  .check(z.refine((body) => proofsIn(body).length === 1, "must have one of token, code, passkey and access"));
type SignInBody = z.output<typeof signInBody>;

/**
 * Begins a session.
 * @throws ApiError `wrong_token`, `link_invalid`, `passkey_refused`, `passkey_host`, `access_invalid`, `access_unknown`, `validation_failed` if several
 *   members have the email
 */
export async function startSession(c: ConsoleContext, body: SignInBody): Promise<void> {
  await beginSession(c, await subjectOf(c, body));
}

async function subjectOf(c: ConsoleContext, { token, code, passkey, access }: SignInBody): Promise<Subject> {
  if (code !== undefined) return takeCode(c.env, code);
  if (passkey !== undefined) return takePasskey(c.env, passkeyPlace(c.env, c.req.url), passkey);
  if (token !== undefined) return operatorWith(c.env, token);
  return subjectOfAccess(c, access?.memberId);
}

/**
 * Whom a request can sign in with Cloudflare Access. An operator is not a member.
 * @param memberId the only member to look for
 * @throws ApiError `access_invalid`
 */
export async function peopleOfAccess(c: ConsoleContext, memberId?: string) {
  const vouched = await personOfAccess(c.env, c.req.header(ACCESS_HEADER));
  if (!vouched) throw new ApiError("access_invalid");
  const { email } = vouched;
  const isOperator = isOperatorEmail(c.env, email);
  return {
    ...vouched,
    isOperator,
    people: isOperator ? [] : await findMembersByEmail(directory(c.env), email, memberId),
  };
}

async function subjectOfAccess(c: ConsoleContext, memberId: string | undefined): Promise<Subject> {
  const { email, issuedAt: authTime, isOperator, people } = await peopleOfAccess(c, memberId);
  if (isOperator) return { kind: "operator", email };
  const [person, another] = people;
  if (!person) throw new ApiError("access_unknown");
  if (another) throw fault("access.memberId", "must name one of the members with this email");
  const { id, organizationId } = person.member;
  return { kind: "member", memberId: id, organizationId, email, authTime };
}

function proofsIn({ token, code, passkey, access }: SignInBody): unknown[] {
  return [token, code, passkey, access].filter((given) => given !== undefined);
}

async function operatorWith(env: Env, token: string): Promise<Subject> {
  if (!(await isSameSecret(token, configured(env, "ADMIN_TOKEN")))) throw new ApiError("wrong_token");
  return { kind: "operator", email: null };
}

/** Uses up the code of a link. Each write takes a code once, however many requests have it. */
async function takeCode(env: Env, code: string): Promise<Subject> {
  const subject = code.startsWith("operator.") ? await takeOperatorCode(env, code) : await takeLink(env, code);
  if (!subject) throw new ApiError("link_invalid");
  return subject;
}

/** The body of `POST /console/link`. */
export const linkBody = z.object({ code: proof });

/**
 * Whom a link signs in, without using it up, and who is signed in already. So a person can see both before one session
 * replaces another.
 * @throws ApiError `link_invalid`
 */
export async function describeLink(c: ConsoleContext, { code }: z.output<typeof linkBody>) {
  const link = code.startsWith("operator.") ? await operatorLink(c.env, code) : await memberLink(c.env, code);
  if (!link) throw new ApiError("link_invalid");
  const claims = await readSession(c);
  const person = claims && (await personOf(c.env, claims, c.req.header(ACCESS_HEADER)));
  const name = person?.kind === "member" ? person.member.name : null;
  return { link, signedInAs: person && { type: person.kind, name } };
}

async function memberLink(env: Env, code: string) {
  const link = await findLink(env, code);
  if (!link) return null;
  const { member, organization } = link;
  return {
    type: "member",
    member: { id: member.id, name: member.name },
    organization: { id: organization.id, name: organization.name },
  } as const;
}

async function operatorLink(env: Env, code: string) {
  const isGood = (await endOfCode(env, code, Date.now())) !== null && !(await isUsed(env, code));
  return isGood ? ({ type: "operator", member: null, organization: null } as const) : null;
}

async function isUsed(env: Env, code: string): Promise<boolean> {
  const isIt = eq(usedCodes.hash, await hashOfLink(code));
  return (await directory(env).$count(usedCodes, isIt)) > 0;
}

async function takeOperatorCode(env: Env, code: string): Promise<Subject | null> {
  const now = Date.now();
  const until = await endOfCode(env, code, now);
  if (until === null) return null;
  const db = directory(env);
  const [, taken] = await db.batch((await useOf(db, code, until, now)).statements);
  return taken.length > 0 ? { kind: "operator", email: null } : null;
}

/** When a code ends, in Unix milliseconds; null if it has ended or is not genuine. Does not know whether it was used. */
async function endOfCode(env: Env, code: string, now: number): Promise<number | null> {
  const [, end = "", nonce, signature = ""] = OPERATOR_CODE.exec(code) ?? [];
  const until = Number(end);
  if (nonce === undefined || until <= now || until > now + OPERATOR_CODE_LASTS_MS) return null;
  const genuine = await signatureOfCode(configured(env, "ADMIN_TOKEN"), `${end}.${nonce}`);
  return (await isSameSecret(signature, genuine)) ? until : null;
}
