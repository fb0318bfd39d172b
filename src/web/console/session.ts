import { signal } from "@preact/signals";
import type { ParleyError } from "../../client/error.ts";
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
 * - `in`: `isLost` once the service no longer knows the session; the page stays behind the sign-in dialog
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

/** Whether the person must sign in again before the service answers anything. */
export function isSessionLost(): boolean {
  const now = sessionState.value;
  return now.state === "in" && now.isLost;
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

/** Whether notes can mention the person, and the person may read them. */
export function hasMentions(): boolean {
  return currentSession().member !== null && may("notes:read");
}

/** In this browser's storage while somebody is signed in: the member's id. The cookie itself is hidden from scripts. */
const SIGNED_IN = "parley.signed-in";
/** In the tab's storage: the code of a one-time link that was not used yet. */
const CODE = "parley.code";
/** In the tab's storage: whose drafts are in it, a member's id; empty for the operator. */
const PERSON = "parley.person";

/**
 * Asks who is signed in, if somebody may be: browsers log a 401 as an error. A link that opened the page waits for a
 * click, and signs in even if somebody else is.
 */
export async function beginSession(): Promise<void> {
  const code = takeCode();
  if (code !== null || (localStorage.getItem(SIGNED_IN) === null && !hasAccess())) {
    sessionState.value = { state: "out", code };
  } else await readSession();
}

/** Asks again who is signed in. A page that stays open does so now and then, so that its session counts as used. */
export async function keepSession(): Promise<void> {
  const now = sessionState.value;
  if (now.state !== "in" || now.isLost) return;
  await ask("/console/api/session").catch((error: ParleyError) => error.status === 401 && sessionLost());
}

/**
 * What signs a person in: the operator's token, the code of a one-time link, the browser's answer for a passkey, or
 * Cloudflare Access. `memberId` chooses among the members with the person's email.
 */
export type Proof = { token: string } | { code: string } | { passkey: object } | { access: { memberId?: string } };

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

/** Asks whom Cloudflare Access vouches for. @throws ParleyError */
export async function readPersonOfAccess(): Promise<PersonOfAccess> {
  return (await ask<{ access: PersonOfAccess }>("/console/access")).access;
}

/** Whom a one-time link signs in, and who is signed in already, as `POST /console/link` says. */
export interface LinkOffer {
  link:
    | { type: "operator" }
    | { type: "member"; member: { id: string; name: string }; organization: { id: string; name: string } };
  signedInAs: { type: "operator" | "member"; name: string | null } | null;
}

/** Asks whom a link signs in, without using it up. @throws ParleyError */
export async function readLink(code: string): Promise<LinkOffer> {
  return post<LinkOffer>("/console/link", { code }).catch(forgetUsedCode);
}

/** Forgets the link that opened the page, which stays good. */
export function forgetLink(): void {
  sessionStorage.removeItem(CODE);
}

/** Signs in. @throws ParleyError if it is refused */
export async function signIn(proof: Proof): Promise<void> {
  await post("/console/session", proof).catch(forgetUsedCode);
  forgetLink();
  await readSession();
}

/** Signs out on this device. Nothing of the person stays in the tab. @throws ParleyError if the session did not end */
export async function signOut(): Promise<void> {
  await ask("/console/session", { method: "DELETE" });
  localStorage.removeItem(SIGNED_IN);
  leave();
}

/** Somebody signed in in another tab. The tabs share the cookie, so a page of anybody else is left at once. */
export function signedInElsewhere({ key, newValue }: StorageEvent): void {
  if (key !== SIGNED_IN || newValue === null) return;
  if (isOfAnother(newValue)) leave();
  else if (sessionState.value.state === "in") void readSession();
}

/** Whether the tab has what somebody else wrote or read, before a reload too. @param person a member's id; "" for the operator */
function isOfAnother(person: string): boolean {
  return (sessionStorage.getItem(PERSON) ?? person) !== person;
}

/** Forgets what a person wrote and read here. */
function leave(): void {
  const code = sessionStorage.getItem(CODE);
  sessionStorage.clear();
  // A link is nobody's yet.
  if (code !== null) sessionStorage.setItem(CODE, code);
  location.replace("/console/");
}

async function readSession(): Promise<void> {
  try {
    const { session } = await ask<{ session: Session }>("/console/api/session");
    const person = session.member?.id ?? "";
    localStorage.setItem(SIGNED_IN, person);
    // Somebody else signed in over the page of the one before.
    if (isOfAnother(person)) return leave();
    sessionStorage.setItem(PERSON, person);
    sessionState.value = { state: "in", session, isLost: false };
  } catch (cause) {
    const error = cause as ParleyError;
    if (error.status === 401) localStorage.removeItem(SIGNED_IN);
    sessionState.value = error.status === 401 ? { state: "out", code: null } : { state: "unknown", error };
  }
}

/**
 * Takes the code of a sign-in link out of the address. It is in the fragment, which browsers never send, and it leaves
 * the history, so that nobody finds it there. The tab keeps it until it is used, so that a reload does not lose it.
 */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return sessionStorage.getItem(CODE);
  sessionStorage.setItem(CODE, code);
  history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** A link that was refused never works again. */
function forgetUsedCode(error: ParleyError): never {
  if (error.code === "link_invalid") forgetLink();
  throw error;
}

function post<T>(path: string, body: object): Promise<T> {
  return ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

/** Asks the service about a sign-in. @throws ParleyError */
export async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const request = new Request(new URL(path, location.href), init);
  markAsScript(request);
  const response = await fetch(request).catch((cause: unknown) => {
    throw unreachable(location.href, cause);
  });
  return (await bodyOf(response)) as T;
}
