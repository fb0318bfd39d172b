import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { admin, client, expectError, newKey, newOrganization } from "../../support/harness.ts";

async function listed(ipAllowlist: string[]) {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, { ipAllowlist });
  const from = (headers: Record<string, string>) => client(secret)("GET", "/key", undefined, headers);
  return { id: key.id, from };
}

test.each([
  ["192.0.2.7", "192.0.2.7", 200],
  ["192.0.2.7", "192.0.2.8", 403],
  ["192.0.2.0/24", "::ffff:c000:207", 200],
  ["2001:db8::/32", "2001:db9::1", 403],
  ["192.0.2.7", "203.0.113.9, 192.0.2.7", 403],
])("with the rule %s, a request from %s is %i", async (rule, address, status) => {
  const { from } = await listed([rule]);
  const answer = await from({ "CF-Connecting-IP": address });
  expect(answer.status, answer.text).toBe(status);
  if (status === 403) expectError(answer, 403, "ip_not_allowed", address);
});

test("a key with an allow-list refuses a request without an address", async () => {
  const { from } = await listed(["0.0.0.0/0", "::/0"]);
  expectError(await from({}), 403, "ip_not_allowed");
});

test("a key without an allow-list accepts a request from any address, and without one", async () => {
  const { from } = await listed([]);
  expect((await from({})).status).toBe(200);
  expect((await from({ "CF-Connecting-IP": "203.0.113.9" })).status).toBe(200);
});

test.each(["X-Forwarded-For", "X-Real-IP", "True-Client-IP", "Forwarded", "X-Client-IP", "CF-Connecting-IPv6"])(
  "the client's address in %s is ignored",
  async (header) => {
    const { from } = await listed(["192.0.2.7"]);
    expectError(await from({ [header]: "192.0.2.7" }), 403, "ip_not_allowed");
    expectError(await from({ [header]: "192.0.2.7", "CF-Connecting-IP": "203.0.113.9" }), 403, "ip_not_allowed");
    expect((await from({ [header]: "203.0.113.9", "CF-Connecting-IP": "192.0.2.7" })).status).toBe(200);
  },
);

test.each([["2a06:98c0::/29"], ["::/0"]])(
  "with %s on its list, a key refuses the address of all Workers",
  async (rule) => {
    const { from } = await listed([rule]);
    const answer = await from({ "CF-Connecting-IP": "2a06:98c0:3600::103" });
    expectError(answer, 403, "ip_not_allowed", "belongs to all Cloudflare Workers, which have none of their own");
    expect(answer.body.message).not.toContain("Add it");
    expect((await from({ "CF-Connecting-IP": "2a06:98c0:1::1" })).status).toBe(200);
  },
);

test("a list from before that has the address of all Workers lets it in no longer", async () => {
  const { id, from } = await listed(["192.0.2.7"]);
  await env.DB.prepare("update api_keys set ip_allowlist = ? where id = ?").bind('["2a06:98c0:3600::103"]', id).run();
  expectError(await from({ "CF-Connecting-IP": "2a06:98c0:3600::103" }), 403, "ip_not_allowed");
});

test("an address of all Workers on the list is a 400 that says why", async () => {
  const { id } = await listed([]);
  const answer = await admin("PATCH", `/keys/${id}`, { ipAllowlist: ["192.0.2.7", "2a06:98c0:3600::/50"] });
  expectError(answer, 400, "validation_failed");
  expect(answer.body.errors).toEqual([
    { path: "ipAllowlist.1", message: expect.stringContaining("everybody's Worker calls from the same ones") },
  ]);
});

test.each(["", "192.0.2.256", "192.0.2.7/33", "2001:db8::/129", "fe80::1%eth0", "example.com"])(
  "the rule %j is a 400 with its index in the list",
  async (rule) => {
    const { id } = await listed([]);
    const answer = await admin("PATCH", `/keys/${id}`, { ipAllowlist: ["192.0.2.7", rule] });
    expectError(answer, 400, "validation_failed");
    expect(answer.body.errors.map((fault: { path: string }) => fault.path)).toEqual(["ipAllowlist.1"]);
  },
);
