import { signal } from "@preact/signals";
import { ParleyError } from "../../client/error.ts";
import type { ApiSchemas } from "../../client/parley.ts";
import { unreachable } from "../../client/retry.ts";
import { bodyOf, markAsScript } from "./request.ts";

/** Who is signed in, as `GET /console/api/session` says. */
export interface Session {
  type: "operator" | "member";
  expiresAt: string;
  permissions: string[];
  member: ApiSchemas["Member"] | null;
  organization: ApiSchemas["Organization"] | null;
}

/**
 * - `unknown`: not asked yet
 * - `out`: nobody is signed in. `code` is that of the one-time link that opened the page, if one did
 * - `in`: `isLost` once the service does not know the session any more; the page stays behind the sign-in dialog
 */
export type SessionState =
  | { state: "unknown"; error: ParleyError | null }
  | { state: "out"; code: string | null }
  | { state: "in"; session: Session; isLost: boolean };

export const sessionState = signal<SessionState>({ state: "unknown", error: null });

/** The service refused the session of a request. */
export function sessionLost(): void {
  const now = sessionState.value;
  if (now.state === "in" && !now.isLost) sessionState.value = { ...now, isLost: true };
}

/** Whether the person may do something. The service decides; this hides what it would refuse. */
export function may(permission: string): boolean {
  const now = sessionState.value;
  return now.state === "in" && now.session.permissions.includes(permission);
}

/** The signed-in person's session. Only below the sign-in. */
export function currentSession(): Session {
  const now = sessionState.value;
  if (now.state !== "in") throw new Error("Nobody is signed in");
  return now.session;
}

/** Asks who is signed in. A link that opened the page waits for a click, and signs in even if somebody else is. */
export async function beginSession(): Promise<void> {
  const code = takeCode();
  if (code !== null) sessionState.value = { state: "out", code };
  else await readSession();
}

/** Asks again who is signed in. A page that stays open does so now and then, so that its session counts as used. */
export async function keepSession(): Promise<void> {
  const now = sessionState.value;
  if (now.state !== "in" || now.isLost) return;
  const answer = await ask("/console/api/session");
  if (!answer.ok && answer.error.status === 401) sessionLost();
}

/**
 * What signs a person in: the operator's token, the code of a one-time link, or Cloudflare Access. `memberId` chooses
 * among the members with the person's email.
 */
export type Proof = { token: string } | { code: string } | { access: { memberId?: string } };

/** Whom Cloudflare Access vouches for, as `GET /console/access` says. */
export interface PersonOfAccess {
  email: string;
  isOperator: boolean;
  members: { id: string; name: string; organization: { id: string; name: string } }[];
}

/** Whether the service is configured for Cloudflare Access. The page's HTML says so, before anybody is signed in. */
export function hasAccess(): boolean {
  return document.getElementById("console")?.dataset.access !== undefined;
}

/** Asks whom Cloudflare Access vouches for. */
export async function readPersonOfAccess(): Promise<
  { ok: true; access: PersonOfAccess } | { ok: false; error: ParleyError }
> {
  const answer = await ask("/console/access");
  return answer.ok ? { ok: true, access: (answer.body as { access: PersonOfAccess }).access } : answer;
}

/** Signs in. @returns null, or why it was refused */
export async function signIn(proof: Proof): Promise<ParleyError | null> {
  const headers = { "Content-Type": "application/json" };
  const answer = await ask("/console/session", { method: "POST", headers, body: JSON.stringify(proof) });
  if (!answer.ok) return answer.error;
  await readSession();
  return null;
}

/** Signs out on this device. Nothing of the person stays in the tab. @throws ParleyError if the session did not end */
export async function signOut(): Promise<void> {
  const answer = await ask("/console/session", { method: "DELETE" });
  if (!answer.ok) throw answer.error;
  leave();
}

/** Forgets what a person wrote and read here. */
function leave(): void {
  sessionStorage.clear();
  location.replace("/console/");
}

async function readSession(): Promise<void> {
  const answer = await ask("/console/api/session");
  if (answer.ok) {
    const { session } = answer.body as { session: Session };
    const before = sessionState.value;
    // Somebody else signed in over the page of the one before.
    if (before.state === "in" && before.session.member?.id !== session.member?.id) return leave();
    sessionState.value = { state: "in", session, isLost: false };
  } else if (answer.error.status === 401) sessionState.value = { state: "out", code: null };
  else sessionState.value = { state: "unknown", error: answer.error };
}

/**
 * Takes the code of a sign-in link out of the address. It is in the fragment, which browsers never send, and it leaves
 * the history, so that nobody finds it there.
 */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

async function ask(
  path: string,
  init?: RequestInit,
): Promise<{ ok: true; body: unknown } | { ok: false; error: ParleyError }> {
  try {
    const request = new Request(new URL(path, location.href), init);
    markAsScript(request);
    return { ok: true, body: await bodyOf(await fetch(request)) };
  } catch (cause) {
    return { ok: false, error: cause instanceof ParleyError ? cause : unreachable(location.href, cause) };
  }
}
