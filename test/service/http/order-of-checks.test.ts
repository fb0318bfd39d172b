import { expect, test } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { call, client, expectError, newKey, newOrganization } from "../../support/harness.ts";

const ALLOWED = { "CF-Connecting-IP": "192.0.2.1" };
const REFUSED = { "CF-Connecting-IP": "198.51.100.1" };
const USED_UP = { rateLimit: { limit: 1, windowSeconds: 3_600 }, monthlyQuota: 1 };

/** A key that allows only 192.0.2.1, after one accepted request. */
async function newUsedKey(settings: Record<string, unknown>) {
  const { organizationId } = await newOrganization();
  const api = client((await newKey(organizationId, { ipAllowlist: ["192.0.2.1"], ...settings })).secret);
  expect((await api("GET", "/key", undefined, ALLOWED)).status).toBe(200);
  return api;
}

test("the header is checked before the method and the route", async () => {
  expectError(await call("DELETE", "/api/v1/chats", { body: "[" }), 401, "missing_authorization");
  expectError(await call("GET", "/api/v1/nowhere", { headers: REFUSED }), 401, "missing_authorization");
  expectError(await call("GET", "/admin/v1/nowhere"), 401, "missing_authorization");
});

test("the key is checked before the address, the method and the route", async () => {
  expectError(await client("ply_wrong")("DELETE", "/chats", "[", REFUSED), 401, "invalid_api_key");
  expectError(await client("ply_wrong")("GET", "/nowhere", undefined, REFUSED), 401, "invalid_api_key");
  // What has a key is no preflight.
  expectError(await client("ply_wrong")("OPTIONS", "/chats", undefined, PREFLIGHT), 401, "invalid_api_key");
});

test("the address is checked before the permission, the rate limit and the quota", async () => {
  const api = await newUsedKey({ permissions: [], ...USED_UP });
  expectError(await api("POST", "/chats", "[", REFUSED), 403, "ip_not_allowed");
});

test("the permission is checked before the rate limit and the quota", async () => {
  const api = await newUsedKey({ permissions: [], ...USED_UP });
  expectError(await api("POST", "/chats", "[", ALLOWED), 403, "permission_denied");
});

test("the rate limit is checked before the quota, the route and the method", async () => {
  const api = await newUsedKey(USED_UP);
  expectError(await api("POST", "/chats", "[", ALLOWED), 429, "rate_limited");
  expectError(await api("GET", "/nowhere", undefined, ALLOWED), 429, "rate_limited");
  expectError(await api("DELETE", "/chats", undefined, ALLOWED), 429, "rate_limited");
});

test("the quota is checked before the route, the method and the input", async () => {
  const api = await newUsedKey({ monthlyQuota: 1 });
  expectError(await api("GET", "/nowhere", undefined, ALLOWED), 403, "quota_exceeded");
  expectError(await api("DELETE", "/chats", undefined, ALLOWED), 403, "quota_exceeded");
  expectError(await api("POST", "/chats", "[", ALLOWED), 403, "quota_exceeded");
});

test("the route and the method are checked before the input", async () => {
  const { api } = await newOrganization();
  expectError(await api("POST", "/nowhere", "["), 404, "not_found");
  expectError(await api("PUT", "/chats", "["), 405, "method_not_allowed");
  expectError(await api("DELETE", "/chats?page=0"), 405, "method_not_allowed");
  expectError(await api("PUT", "/chats", "x".repeat(70_000)), 405, "method_not_allowed");
});

test("the input is checked before the resource is looked up", async () => {
  const { api } = await newOrganization();
  const path = `/chats/${newId("cht", null)}/messages`;
  expectError(await api("POST", path, "["), 400, "validation_failed");
  expectError(await api("POST", path, {}), 400, "missing_field");
  expectError(await api("POST", path, "x".repeat(70_000)), 413, "body_too_large");
  expectError(await api("POST", path, { content: "Hi" }, { "Idempotency-Key": "" }), 400, "validation_failed");
  expectError(await api("GET", `${path}?page=0`), 400, "validation_failed");
  expectError(await api("GET", `${path}?page=1&before=1`), 400, "validation_failed");
  const chat = { channelId: newId("chn", null), contact: { address: "a" }, metadata: [] };
  expectError(await api("POST", "/chats", chat), 400, "validation_failed");
});

test("the chat is looked up before the sender and the template", async () => {
  const { api } = await newOrganization();
  const body = { content: "Hi", senderId: newId("mbr", null), templateId: newId("tpl", null) };
  expectError(await api("POST", `/chats/${newId("cht", null)}/messages`, body), 404, "chat_not_found");
});

const PREFLIGHT = {
  Origin: "https://shop.example",
  "Access-Control-Request-Method": "POST",
  "Access-Control-Request-Headers": "authorization",
};

test.each(["/api/v1/chats", "/api/v1/nothing", "/admin/v1/organizations", "/admin/v1/nothing"])(
  "a browser's preflight to %s is refused with the reason",
  async (path) => {
    const answer = await call("OPTIONS", path, { headers: PREFLIGHT });
    expectError(answer, 405, "method_not_allowed", /^Browsers can't call this API/);
    expect(answer.headers.get("Allow")).toBe("GET, HEAD, POST, PATCH, DELETE");
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  },
);
