import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { app } from "../../../src/app.ts";
import { lookInto, noteLine } from "../../support/canaries.ts";
import { call } from "../../support/harness.ts";
import { accept, fakeNetworks } from "../../support/networks.ts";
import { type Ask, Place } from "./fixtures.ts";
import { requests } from "./requests.ts";
import { SHAPES } from "./routes.ts";
import { fuzz } from "./run.ts";
import { RECEIVER } from "./values.ts";

const COUNT = Number(env.TEST_REQUESTS || 600);
const SEED = Number(env.TEST_SEED || Math.trunc(Math.random() * 2 ** 31));

test("every registered route is asked", () => {
  const registered = app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(registered)].sort()).toEqual(Object.keys(SHAPES).sort());
});

/** The routes that end what they name. */
const ENDS = Object.keys(SHAPES).filter((route) => SHAPES[route]?.ends);

test("nothing that the requests are about is ended by one of them", () => {
  const drawn = fc.sample(requests, { numRuns: 20_000, seed: SEED });
  const ending = drawn.filter(({ method, route }) => ENDS.includes(`${method} ${route.slice(route.indexOf(" ") + 1)}`));
  expect(ending.filter(({ method, route }) => !route.startsWith(method)).length).toBeGreaterThan(0);
  expect(ending.map(({ path }) => path).filter((path) => /@(?!born-|own:)/i.test(path))).toEqual([]);
});

/** `call` compares each response to the OpenAPI documents. */
const ask: Ask = async (method, path, { headers, body }) => {
  const isLong = headers.Upgrade === "websocket" || /\/(?:events\/stream|export)\b/.test(path);
  if (isLong) return open(method, path, headers);
  if (body && method === "POST" && /\/media\b/.test(path)) {
    return call(method, path, { headers: { "Content-Length": String(body.byteLength), ...headers }, body });
  }
  return call(method, path, { headers, ...(body && { body: new Blob([body]).stream() }) });
};

/** A socket or a stream, which is closed again, or an export, which ends early if what it exports is deleted. */
async function open(method: string, path: string, headers: Record<string, string>) {
  const response = await exports.default.fetch(`https://parley.test${path}`, { method, headers });
  response.webSocket?.accept();
  response.webSocket?.close(1_000);
  const isStream = response.headers.get("Content-Type") === "text/event-stream";
  if (isStream) await response.body?.cancel();
  const text = isStream ? "" : await response.text().catch(endedByDeletion);
  lookInto(`${method} ${path}`, `${JSON.stringify([...response.headers])} ${text}`);
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : null };
}

function endedByDeletion(error: unknown): string {
  if (error instanceof Error && /^(?:Organization not found\b|Chat not found$)/.test(error.message)) return "";
  throw error;
}

test(`none of ${COUNT} requests to all routes is met with a fault of the service (SEED=${SEED})`, {
  timeout: 3_600_000,
}, async () => {
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((...line) => noteLine(level, line));
  }
  const calls = fakeNetworks(accept);
  const place = await Place.make(ask, env.ADMIN_TOKEN);
  const { statuses } = await fuzz(place, { count: COUNT, seed: SEED });
  expect(await place.gone()).toEqual([]);
  // Few requests are answered so: a short run may draw none of them.
  const rare = COUNT < 5_000 ? [] : [403, 405];
  for (const status of [200, 201, 400, 401, 404, ...rare])
    expect(statuses.get(status), String(status)).toBeGreaterThan(0);
  const hosts = new Set(calls.map(({ url }) => new URL(url).host));
  expect([...hosts].filter((host) => !["api.telegram.org", "graph.facebook.com", RECEIVER].includes(host))).toEqual([]);
});
