import { expect, test, vi } from "vitest";
import { aroundCall } from "../../../support/faults.ts";
import { admin, type Client, client, created, expectError, newKey, newOrganization } from "../../../support/harness.ts";

async function keyWith(body: Record<string, unknown>) {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, body);
  return { id: key.id, api: client(secret) };
}

/** How many of `count` concurrent requests have each status. */
async function burst(count: number, ...clients: Client[]): Promise<Record<number, number>> {
  const requests = Array.from({ length: count }, (_, i) => (clients[i % clients.length] as Client)("GET", "/key"));
  const statuses: Record<number, number> = {};
  for (const { status } of await Promise.all(requests)) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}

test("of 500 concurrent requests in a window of 100, exactly 100 pass", async () => {
  const { api } = await keyWith({ rateLimit: { limit: 100, windowSeconds: 3_600 } });
  expect(await burst(500, api)).toEqual({ 200: 100, 429: 400 });
});

test("of 200 concurrent requests for the last unit of a quota, exactly 1 passes", async () => {
  const { api } = await keyWith({ monthlyQuota: 1 });
  expect(await burst(200, api)).toEqual({ 200: 1, 403: 199 });
  expectError(await api("GET", "/key"), 403, "quota_exceeded", /^Monthly quota exceeded$/);
});

test.each([1, 25])(
  "a call to the key's object whose response is lost is repeated, and counts %i once",
  async (quota) => {
    const { id, api } = await keyWith({ monthlyQuota: quota, rateLimit: { limit: 100, windowSeconds: 3_600 } });
    for (let n = 1; n < quota; n++) expect((await api("GET", "/key")).status).toBe(200);
    const lost = Object.assign(new Error("Network connection lost."), { retryable: true });
    aroundCall("KEYS", "admit", { after: () => Promise.reject(lost) });
    const answer = await api("GET", "/key");
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get("X-RateLimit-Remaining")).toBe(String(100 - quota));
    expect((await admin("GET", `/keys/${id}/usage`)).body.usage).toMatchObject({ used: quota });
    expect((await api("GET", "/key")).status).toBe(403);
  },
);

test("remaining decreases without gaps or repeats over concurrent requests", async () => {
  const { api } = await keyWith({ rateLimit: { limit: 50, windowSeconds: 3_600 } });
  const answers = await Promise.all(Array.from({ length: 50 }, () => api("GET", "/key")));
  const remaining = answers.map((answer) => Number(answer.headers.get("X-RateLimit-Remaining")));
  expect(remaining.sort((one, other) => one - other)).toEqual(Array.from({ length: 50 }, (_, i) => i));
});

test("two secrets of one key share one window and one month", async () => {
  const { id, api } = await keyWith({ monthlyQuota: 30, rateLimit: { limit: 40, windowSeconds: 3_600 } });
  const { secret } = created(await admin("POST", `/keys/${id}/rotate`, { overlapSeconds: 600 }));
  expect(await burst(60, api, client(secret))).toEqual({ 200: 30, 403: 30 });
  await admin("PATCH", `/keys/${id}`, { monthlyQuota: null });
  expect(await burst(40, api, client(secret))).toEqual({ 200: 10, 429: 30 });
});

test("a key whose limit is changed under load accepts no more than the new limit", async () => {
  const { id, api } = await keyWith({ rateLimit: { limit: 40, windowSeconds: 3_600 } });
  const [before] = await Promise.all([
    burst(100, api),
    admin("PATCH", `/keys/${id}`, { rateLimit: { limit: 60, windowSeconds: 3_600 } }),
  ]);
  // A refusal is cached for a second.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1_001 });
  const after = await burst(100, api);
  expect((before[200] ?? 0) + (after[200] ?? 0)).toBe(60);
});
