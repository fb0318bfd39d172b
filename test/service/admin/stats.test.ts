import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { admin, newOrganization, statsOf } from "../../support/harness.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("the statistics of an unknown organization are a 404, and a page past the end is empty", async () => {
  expect((await admin("GET", "/stats?organization=org_gaaaaaaaaaaaaaaa")).status).toBe(404);
  const { organizationId } = await newOrganization();
  const { body } = await admin("GET", `/stats?organization=${organizationId}&page=9`);
  expect(body).toMatchObject({ channels: [], keys: [], pagination: { page: 9, total: 1, hasMore: false } });
});

test("reading the statistics calls no object", async () => {
  const { organizationId } = await newOrganization();
  const spies = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  await statsOf(organizationId);
  expect(spies.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
});
