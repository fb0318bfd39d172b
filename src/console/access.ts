import { decodeHeader, verifyWithJwks } from "hono/utils/jwt/jwt";
import * as z from "zod/mini";
import { configured } from "../config.ts";
import { unavailable } from "../http/errors.ts";
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
const FETCH_TIMEOUT_MS = 5_000;

const tokenHeader = z.object({ kid: z.string() });
/** A token of a service has no `email`. */
const tokenPayload = z.object({ email: z.string(), exp: z.number() });
const keySet = z.object({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) });
type Keys = z.output<typeof keySet>["keys"];

const keyCache = perIsolate((): { keys: Keys | null; fetchedAt: number; askedAt: number } => ({
  keys: null,
  fetchedAt: 0,
  askedAt: 0,
}));

/**
 * The email of the person for whom Access made a token, in lower case; null without a valid token, or if Access is not
 * configured.
 * @throws ApiError `unavailable` if the keys of Access can't be fetched, or if only a part of it is configured
 */
export async function emailFromAccess(env: Env, token: string | undefined): Promise<string | null> {
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
    return checked.success ? lowerCase(checked.data.email) : null;
  } catch {
    // Not logged: the errors contain the token.
    return null;
  }
}

/** Whether an email that `emailFromAccess` returned is an operator's. */
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
  const now = Date.now();
  const { keys } = cache;
  if (keys && now - cache.fetchedAt < KEYS_LAST_MS) {
    if (now - cache.askedAt < REFETCH_AFTER_MS || keys.some(({ kid }) => kid === keyId)) return keys;
  }
  // Before the fetch, so that further requests with unknown keys don't cause another one meanwhile.
  cache.askedAt = now;
  const fetched = await fetchKeys(issuer);
  cache.fetchedAt = now;
  cache.keys = fetched;
  return fetched;
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
