import { eq } from "drizzle-orm";
import { getSignedCookie, setCookie, setSignedCookie } from "hono/cookie";
import type { CookieOptions } from "hono/utils/cookie";
import { directory } from "../db/client.ts";
import { members } from "../db/schema.ts";
import { type Claims, claims, MEMBER_LASTS_MS, type Subject } from "../model/session.ts";
import { configured } from "../platform/config.ts";
import { causeOf } from "../platform/log.ts";
import { macOf } from "../secrets/mac.ts";
import type { ConsoleContext } from "./context.ts";

/**
 * The session of a person who uses the console: a signed cookie. It names the person, and grants nothing on its own:
 * `guard.ts` says which requests it counts for, and what its person may do.
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const OPERATOR_LASTS_MS = 12 * HOUR_MS;
/** A member's session ends when it was not used for this long. */
const MEMBER_IDLE_MS = 7 * DAY_MS;
/** The cookie says when the session was used, this exactly. */
const SEEN_EVERY_MS = HOUR_MS;

const NAME = "console";
/** Over plain HTTP on the same machine, where not every browser keeps a `Secure` cookie. */
const LOCAL_NAME = "console-local";
const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** Begins a session. Each has an id of its own, and none is taken from the request. */
export async function beginSession(c: ConsoleContext, subject: Subject): Promise<void> {
  const now = Date.now();
  // Cloudflare Access may no longer let a person in after some hours.
  const isShort = subject.kind === "operator" || subject.email !== null;
  const exp = now + (isShort ? OPERATOR_LASTS_MS : MEMBER_LASTS_MS);
  // A sign-out since the link was used up ends this session too.
  const { usedAt: iat = now, ...person } = { usedAt: undefined, ...subject };
  await write(c, { ...person, jti: crypto.randomUUID(), iat, seenAt: now, exp });
  if (subject.kind === "member") await markSeen(c.env, subject.memberId, now);
}

/**
 * Prolongs the idle time of a member's session that is being used. Few requests do so, because each sets the cookie: one
 * that is answered after another sign-in would bring the session before it back.
 */
export async function keepSession(c: ConsoleContext, session: Claims): Promise<void> {
  const now = Date.now();
  if (session.kind !== "member" || now - session.seenAt < SEEN_EVERY_MS) return;
  await write(c, { ...session, seenAt: now });
  await markSeen(c.env, session.memberId, now);
}

/** Stores when a member was seen. If it can't be stored, the session counts nevertheless. */
async function markSeen(env: Env, memberId: string, lastSeenAt: number): Promise<void> {
  try {
    await directory(env).update(members).set({ lastSeenAt }).where(eq(members.id, memberId));
  } catch (error) {
    console.warn({ event: "last_seen_not_stored", memberId, error: causeOf(error) });
  }
}

/** Makes the browser forget the session. A copy of its cookie counts until the session itself has ended. */
export function forgetSession(c: ConsoleContext): void {
  const { name, options } = cookieFor(c);
  setCookie(c, name, "", { ...options, maxAge: 0 });
}

/** The session of the request's cookie; null if there is none, or if it is over or not genuine. */
export async function readSession(c: ConsoleContext): Promise<Claims | null> {
  const { name, options } = cookieFor(c);
  if (c.req.header("Cookie") === undefined) return null;
  const text = await getSignedCookie(c, await signingKey(c.env), name, options.prefix);
  if (!text) return null;
  const session = claims.safeParse(JSON.parse(text));
  return session.success && isCurrent(session.data, Date.now()) ? session.data : null;
}

/** Whether a session is neither over nor idle for too long. */
export function isCurrent({ kind, seenAt, exp }: Claims, now: number): boolean {
  return now < exp && (kind === "operator" || now < seenAt + MEMBER_IDLE_MS);
}

async function write(c: ConsoleContext, session: Claims): Promise<void> {
  const { name, options } = cookieFor(c);
  const maxAge = Math.max(0, Math.ceil((session.exp - Date.now()) / 1_000));
  await setSignedCookie(c, name, JSON.stringify(session), await signingKey(c.env), { ...options, maxAge });
}

/** A rotation of the operator's token ends all sessions. */
async function signingKey(env: Env): Promise<ArrayBuffer> {
  return macOf(configured(env, "ADMIN_TOKEN"), "console");
}

function cookieFor(c: ConsoleContext): { name: string; options: CookieOptions } {
  const { protocol, hostname } = new URL(c.req.url);
  const options: CookieOptions = { path: "/", httpOnly: true, sameSite: "Strict" };
  const isLocal = protocol === "http:" && LOCAL_HOSTS.includes(hostname);
  if (isLocal) return { name: LOCAL_NAME, options };
  return { name: NAME, options: { ...options, prefix: "host", secure: true } };
}
