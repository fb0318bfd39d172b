import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { type Answer, admin, type Call, call, created } from "./harness.ts";

/** The headers of a request that a page of the console makes. */
export const OWN_PAGE = { "Sec-Fetch-Site": "same-origin" };

/** The cookie that a response sets, as the browser returns it; an empty string if it sets none. */
export function cookieOf({ headers }: Answer): string {
  return headers.get("Set-Cookie")?.split(";")[0] ?? "";
}

/** Signs in with the body of `POST /console/session`. Returns the session's cookie. */
export async function signIn(body: object = { token: env.ADMIN_TOKEN }): Promise<string> {
  const answer = await call("POST", "/console/session", { body, headers: OWN_PAGE });
  expect(answer.status, answer.text).toBe(204);
  return cookieOf(answer);
}

/** The code in a sign-in link. */
export function codeOf({ url }: { url: string }): string {
  return new URLSearchParams(new URL(url).hash.slice(1)).get("code") ?? "";
}

/** Signs a member in with a new link of the operator. Returns the session's cookie. */
export async function signInMember(memberId: string): Promise<string> {
  return signIn({ code: codeOf(created(await admin("POST", `/members/${memberId}/sign-in-link`))) });
}

/** A browser on a page of the console, with a session's cookie. `path` is below /console/api. */
export function browser(cookie: string) {
  return (method: string, path: string, body?: unknown, { headers = {}, ...rest }: Call = {}): Promise<Answer> =>
    call(method, `/console/api${path}`, { body, headers: { ...OWN_PAGE, Cookie: cookie, ...headers }, ...rest });
}
