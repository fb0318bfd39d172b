import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { app } from "../../../src/app.ts";
import { browser, cookieOf, OWN_PAGE, signIn } from "../../support/console.ts";
import { call, expectError } from "../../support/harness.ts";

const HOUR_MS = 3_600_000;

/** The JSON in a session's cookie. */
function claimsOf(cookie: string) {
  const text = decodeURIComponent(cookie.slice(cookie.indexOf("=") + 1));
  return JSON.parse(text.slice(0, text.lastIndexOf(".")));
}

test("the operator's token begins a session of 12 hours", async () => {
  const answer = await call("POST", "/console/session", { body: { token: env.ADMIN_TOKEN }, headers: OWN_PAGE });
  expect([answer.status, answer.text]).toEqual([204, ""]);
  const cookie = answer.headers.get("Set-Cookie") ?? "";
  expect(cookie).toMatch(/^__Host-console=[^;]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  expect(cookie).not.toContain(env.ADMIN_TOKEN);
  const { session } = (await browser(cookieOf(answer))("GET", "/session")).body;
  expect(session).toMatchObject({ type: "operator", member: null, organization: null });
  expect(Date.parse(session.expiresAt) - Date.now()).toBeGreaterThan(11.9 * HOUR_MS);
});

test("a wrong token begins no session", async () => {
  for (const token of ["", `${env.ADMIN_TOKEN}x`, env.ADMIN_TOKEN.toLowerCase(), "Bearer"]) {
    const answer = await call("POST", "/console/session", { body: { token }, headers: OWN_PAGE });
    expectError(answer, 401, "wrong_token");
    expect(answer.headers.get("Set-Cookie")).toBeNull();
  }
});

test("without ADMIN_TOKEN nobody can sign in, and the API is a 503", async () => {
  const bindings = { ADMIN_TOKEN: "" };
  const asked = { body: { token: "" }, headers: OWN_PAGE, bindings };
  expectError(await call("POST", "/console/session", asked), 503, "unavailable");
  expectError(await browser(await signIn())("GET", "/session", undefined, { bindings }), 503, "unavailable");
});

test("on http://localhost the cookie has no prefix and is not Secure, and it does not count over https", async () => {
  const request = new Request("http://localhost:8787/console/session", {
    method: "POST",
    headers: OWN_PAGE,
    body: JSON.stringify({ token: env.ADMIN_TOKEN }),
  });
  const response = await app.fetch(request, env);
  const cookie = response.headers.get("Set-Cookie") ?? "";
  expect(cookie).toMatch(/^console-local=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  const [pair = ""] = cookie.split(";");
  const local = new Request("http://localhost:8787/console/api/session", { headers: { ...OWN_PAGE, Cookie: pair } });
  expect((await app.fetch(local, env)).status).toBe(200);
  expectError(await browser(pair)("GET", "/session"), 401, "not_signed_in");
  const plain = new Request("http://parley.test/console/api/session", { headers: { ...OWN_PAGE, Cookie: pair } });
  expect((await app.fetch(plain, env)).status).toBe(401);
});

test("signing out makes the browser forget the session", async () => {
  const answer = await call("DELETE", "/console/session", { headers: { ...OWN_PAGE, Cookie: await signIn() } });
  expect(answer.status).toBe(204);
  expect(answer.headers.get("Set-Cookie")).toMatch(/^__Host-console=; Max-Age=0; Path=\/; HttpOnly; Secure/);
});

test("each session has an id of its own, and none from the request", async () => {
  const first = await signIn();
  const headers = { ...OWN_PAGE, Cookie: first };
  const body = { token: env.ADMIN_TOKEN, jti: "chosen", session: "chosen" };
  const second = cookieOf(await call("POST", "/console/session", { body, headers }));
  const ids = [claimsOf(first).jti, claimsOf(second).jti];
  expect(new Set(ids).size).toBe(2);
  expect(ids).not.toContain("chosen");
  expectError(await browser(first.replace(/=.*/, "=chosen"))("GET", "/session"), 401, "not_signed_in");
  expectError(
    await call("GET", `/console/api/session?session=${first}&__Host-console=${first}`, { headers: OWN_PAGE }),
    401,
    "not_signed_in",
  );
});

test("a session ends after 12 hours, also if it is used", async () => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  const ask = browser(await signIn());
  vi.setSystemTime(now + 12 * HOUR_MS - 5_000);
  expect((await ask("GET", "/session")).status).toBe(200);
  vi.setSystemTime(now + 12 * HOUR_MS + 5_000);
  expectError(await ask("GET", "/session"), 401, "not_signed_in");
});

test("a new ADMIN_TOKEN ends all sessions", async () => {
  const ask = browser(await signIn());
  const bindings = { ADMIN_TOKEN: "another token" };
  expectError(await ask("GET", "/session", undefined, { bindings }), 401, "not_signed_in");
});

test.each([
  ["with another signature", (cookie: string) => cookie.replace(/.{6}$/, "AAAA%3D")],
  ["without a signature", (cookie: string) => cookie.slice(0, cookie.lastIndexOf("."))],
  ["with other claims", (cookie: string) => cookie.replace("operator", "operatoR")],
  ["signed with the token itself", (cookie: string) => cookie.replace("__Host-console", "__Host-Console")],
  ["that is empty", () => "__Host-console="],
])("a cookie %s does not count", async (_, alter) => {
  const cookie = await signIn();
  expect(alter(cookie)).not.toBe(cookie);
  expectError(await browser(alter(cookie))("GET", "/session"), 401, "not_signed_in");
});

test("an address that guesses too often gets 429", async () => {
  // The count begins at 0.
  vi.spyOn(Math, "random").mockReturnValue(0);
  // One object for all requests, because what an isolate remembers belongs to it.
  const isolate = { ...env, STRANGERS: { limit: async () => ({ success: false }) } };
  const headers = { ...OWN_PAGE, "CF-Connecting-IP": "198.51.100.9" };
  const url = "https://parley.test/console/session";
  const answers: number[] = [];
  for (let tries = 0; tries < 60; tries++) {
    const request = new Request(url, { method: "POST", headers, body: JSON.stringify({ token: "guess" }) });
    answers.push((await app.fetch(request, isolate, createExecutionContext())).status);
  }
  expect(answers.slice(0, 49)).toEqual(Array(49).fill(401));
  expect(answers.slice(50)).toEqual(Array(10).fill(429));
});
