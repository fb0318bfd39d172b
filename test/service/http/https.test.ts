import { env, exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import { app } from "../../../src/app.ts";
import { newOrganization } from "../../support/harness.ts";

/** The headers that Cloudflare adds to a request that came by `scheme`. */
const throughCloudflare = (scheme: "http" | "https") => ({
  "CF-Ray": "8f1c2d3e4a5b6c7d-FRA",
  "CF-Visitor": JSON.stringify({ scheme }),
});

function request(method: string, url: string, headers: Record<string, string> = {}): Promise<Response> {
  return exports.default.fetch(new Request(url, { method, headers, redirect: "manual" }));
}

/** Each method and path that the app has, the paths' ends made up, and one that it does not have. */
const REQUESTS = [
  ...new Set(app.routes.map(({ method, path }) => `${method === "ALL" ? "POST" : method} ${path}`)),
  "GET /nowhere",
].map((route) => route.replace(/:\w+/g, "x").replaceAll("*", "x"));

const PAGES = ["GET /", "GET /web/x", "GET /console", "GET /console/x", "GET /console/preview"];

test("once deployed, every route but the pages refuses plain http, whoever calls", async () => {
  expect(REQUESTS.length).toBeGreaterThan(150);
  const taken: string[] = [];
  for (const route of REQUESTS.filter((each) => !PAGES.includes(each))) {
    const [method = "", path = ""] = route.split(" ");
    const headers = { ...throughCloudflare("http"), Authorization: `Bearer ${env.ADMIN_TOKEN}` };
    const answer = await request(method, `http://parley.test${path}`, headers);
    const text = await answer.text();
    if (answer.status !== 403 || !/^{"message":".+","code":"https_required"}$/.test(text)) taken.push(route);
  }
  expect(taken).toEqual([]);
});

test("once deployed, no socket opens over plain http", async () => {
  const { channelId } = await newOrganization();
  const headers = { ...throughCloudflare("http"), Upgrade: "websocket" };
  const { status, webSocket } = await request("GET", `http://parley.test/web/${channelId}/socket`, headers);
  expect([status, webSocket]).toEqual([403, null]);
});

test.each(PAGES)("once deployed, %s over plain http leads to https", async (route) => {
  expect(REQUESTS).toContain(route);
  const path = route.slice("GET ".length);
  for (const method of ["GET", "HEAD"]) {
    const answer = await request(method, `http://parley.test${path}?hello=1`, throughCloudflare("http"));
    expect([answer.status, answer.headers.get("Location")]).toEqual([308, `https://parley.test${path}?hello=1`]);
    expect(answer.headers.get("X-Request-Id")).not.toBeNull();
  }
});

test("plain http to a local server, or through a tunnel that was called over https, is answered", async () => {
  const { channelId } = await newOrganization();
  for (const headers of [{}, throughCloudflare("https")]) {
    expect((await request("GET", "http://localhost:8787/healthz", headers)).status).toBe(200);
    expect((await request("GET", `http://localhost:8787/web/${channelId}`, headers)).status).toBe(200);
  }
  expect((await request("GET", "https://parley.test/healthz", throughCloudflare("https"))).status).toBe(200);
});
