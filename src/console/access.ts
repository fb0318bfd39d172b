import { decodeHeader, verifyWithJwks } from "hono/utils/jwt/jwt";
import * as z from "zod/mini";
import { unavailable } from "../model/error.ts";
import { configured } from "../platform/config.ts";
import { perIsolate } from "../platform/per-isolate.ts";

/**
 * Cloudflare Access in front of the console. It signs people in and adds a token to each of their requests, which says
 * who they are.
 * @see https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie/validating-json/
 */

export const ACCESS_HEADER = "Cf-Access-Jwt-Assertion";

const KEYS_LAST_MS = 3_600_000;
/** Minimum time between fetches caused by unknown key ids, which a stranger can make up. */
const REFETCH_AFTER_MS = 60_000;
/** After a failed fetch, no other one begins for this long, which doubles with each failure up to the maximum. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const FETCH_TIMEOUT_MS = 5_000;
/** How often a request looks whether another request's fetch has ended. */
const POLL_MS = 10;

const tokenHeader = z.object({ kid: z.string() });
/** A token of a service has no `email`. `iat` is in seconds; without one, a token counts as old. */
const tokenPayload = z.object({ email: z.string(), iat: z._default(z.number(), 0), exp: z.number() });
const keySet = z.object({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) });
type Keys = z.output<typeof keySet>["keys"];

interface KeyCache {
  keys: Keys | null;
  fetchedAt: number;
  askedAt: number;
  /** How many fetches in a row failed, and until when no other one begins. */
  failures: number;
  pausedUntil: number;
  /** The fetch under way. If the platform cancels its request, it never ends. */
  fetch: { startedAt: number } | null;
}

const keyCache = perIsolate(
  (): KeyCache => ({ keys: null, fetchedAt: 0, askedAt: 0, failures: 0, pausedUntil: 0, fetch: null }),
);

/** The person for whom Access made a token. */
export interface AccessPerson {
  /** In lower case. */
  email: string;
  /** When Access made the token, Unix milliseconds. */
  issuedAt: number;
}

/**
 * The person for whom Access made a token; null without a valid token, or if Access is not configured.
 * @throws ApiError `unavailable` if the keys of Access can't be fetched, or if only a part of it is configured
 */
export async function personOfAccess(env: Env, token: string | undefined): Promise<AccessPerson | null> {
  const teamDomain = configured(env, "ACCESS_TEAM_DOMAIN");
  if (teamDomain === undefined) return null;
  const audience = configured(env, "ACCESS_AUD");
  if (audience === undefined) throw unavailable("configuration: ACCESS_TEAM_DOMAIN needs ACCESS_AUD");
  const keyId = keyIdOf(token);
  if (token === undefined || keyId === null) return null;
  const issuer = `https://${teamDomain}`;
  const keys = await keysFor(env, issuer, keyId);
  try {
    const verification = { iss: issuer, aud: audience };
    const payload = await verifyWithJwks(token, { keys, allowedAlgorithms: ["RS256"], verification });
    const checked = tokenPayload.safeParse(payload);
    return checked.success ? { email: lowerCase(checked.data.email), issuedAt: checked.data.iat * 1_000 } : null;
  } catch {
    // Not logged: the errors contain the token.
    return null;
  }
}

/** Whether an email that `personOfAccess` returned is an operator's. */
export function isOperatorEmail(env: Env, email: string): boolean {
  return configured(env, "CONSOLE_OPERATORS").includes(email);
}

/** Lower case for ASCII letters alone, as SQLite's `lower`. Some other letters, such as the Kelvin sign, become ASCII. */
export function lowerCase(email: string): string {
  return email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function keyIdOf(token: string | undefined): string | null {
  if (token === undefined) return null;
  try {
    const header = tokenHeader.safeParse(decodeHeader(token));
    return header.success ? header.data.kid : null;
  } catch {
    return null;
  }
}

async function keysFor(env: Env, issuer: string, keyId: string): Promise<Keys> {
  const cache = keyCache(env);
  let known = knownKeys(cache, keyId);
  // It polls: the platform may cancel a request that awaits only another request's promise.
  while (!known && isFetching(cache)) {
    await scheduler.wait(POLL_MS);
    known = knownKeys(cache, keyId);
  }
  if (known) return known;
  if (isAhead(cache.pausedUntil, MAX_PAUSE_MS)) {
    throw unavailable(new Error("The keys of Cloudflare Access could not be fetched a moment ago"));
  }
  return fetchInto(cache, issuer);
}

/** The cached keys; null if a fetch may find newer ones. */
function knownKeys({ keys, fetchedAt, askedAt }: KeyCache, keyId: string): Keys | null {
  const now = Date.now();
  if (!keys || now - fetchedAt >= KEYS_LAST_MS) return null;
  return now - askedAt < REFETCH_AFTER_MS || keys.some(({ kid }) => kid === keyId) ? keys : null;
}

function isFetching({ fetch: running }: KeyCache): boolean {
  return running !== null && isAhead(running.startedAt + FETCH_TIMEOUT_MS, FETCH_TIMEOUT_MS);
}

async function fetchInto(cache: KeyCache, issuer: string): Promise<Keys> {
  const fetching = { startedAt: Date.now() };
  cache.fetch = fetching;
  // Before the fetch, so that further requests with unknown keys don't cause another one meanwhile.
  cache.askedAt = fetching.startedAt;
  try {
    const keys = await fetchKeys(issuer);
    Object.assign(cache, { keys, fetchedAt: fetching.startedAt, failures: 0, pausedUntil: 0 });
    return keys;
  } catch (error) {
    cache.pausedUntil = Date.now() + Math.min(FIRST_PAUSE_MS * 2 ** cache.failures++, MAX_PAUSE_MS);
    throw error;
  } finally {
    if (cache.fetch === fetching) cache.fetch = null;
  }
}

/** Whether a time is still to come. A clock that was set back must not move it further away than `most`. */
function isAhead(time: number, most: number): boolean {
  const left = time - Date.now();
  return left > 0 && left <= most;
}

async function fetchKeys(issuer: string): Promise<Keys> {
  try {
    const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
    const response = await fetch(`${issuer}/cdn-cgi/access/certs`, { redirect: "manual", signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return keySet.parse(await response.json()).keys;
  } catch (cause) {
    throw unavailable(new Error("The keys of Cloudflare Access can't be fetched", { cause }));
  }
}
