import { and, eq, exists, gt, isNull, lte } from "drizzle-orm";
import * as z from "zod/mini";
import { hashOfLink } from "../admin/sign-in-link.ts";
import { configured } from "../config.ts";
import { directory } from "../db/client.ts";
import { members, organizations, usedCodes } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { atMost, optional } from "../http/fields.ts";
import { isSameSecret } from "../secrets/compare.ts";
import type { Subject } from "./claims.ts";
import type { ConsoleContext } from "./context.ts";
import { OPERATOR_CODE_LASTS_MS, signatureOfCode } from "./operator-code.ts";
import { beginSession } from "./session.ts";

const OPERATOR_CODE = /^operator\.(\d{1,15})\.([0-9A-Za-z]{22})\.([0-9a-f]{64})$/;

const proof = z.string().check(...atMost(1_000));

/** The body of `POST /console/session`: the operator's token, or the code of a sign-in link. */
export const signInBody = z
  .object({ token: optional(proof), code: optional(proof) })
  .check(z.refine(({ token, code }) => (token === undefined) !== (code === undefined), "must have a token or a code"));

/** Begins a session. @throws ApiError `wrong_token`, `link_invalid` */
export async function startSession(c: ConsoleContext, { token, code }: z.output<typeof signInBody>): Promise<void> {
  const subject = code === undefined ? await operatorWith(c.env, token ?? "") : await takeCode(c.env, code);
  await beginSession(c, subject);
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

async function takeOperatorCode(env: Env, code: string): Promise<Subject | null> {
  const now = Date.now();
  const until = await endOfCode(env, code, now);
  if (until === null) return null;
  const db = directory(env);
  const [, taken] = await db.batch([
    db.delete(usedCodes).where(lte(usedCodes.until, now)),
    db
      .insert(usedCodes)
      .values({ hash: await hashOfLink(code), until })
      .onConflictDoNothing()
      .returning(),
  ]);
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

async function takeLink(env: Env, code: string): Promise<Subject | null> {
  const db = directory(env);
  const isActive = and(eq(organizations.id, members.organizationId), isNull(organizations.erasingAt));
  const [member] = await db
    .update(members)
    .set({ signInHash: null, signInUntil: null })
    .where(
      and(
        eq(members.id, code.split(".", 1)[0] ?? ""),
        eq(members.signInHash, await hashOfLink(code)),
        gt(members.signInUntil, Date.now()),
        exists(db.select({ id: organizations.id }).from(organizations).where(isActive)),
      ),
    )
    .returning({ memberId: members.id });
  return member ? { kind: "member", memberId: member.memberId, email: null } : null;
}
