import { expect, test } from "vitest";
import { call, expectError } from "../../support/harness.ts";

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

test("OPTIONS that is not a preflight needs a key, like any other method", async () => {
  expectError(await call("OPTIONS", "/api/v1/chats"), 401, "missing_authorization");
  const headers = { ...PREFLIGHT, Authorization: "Bearer ply_wrong" };
  expectError(await call("OPTIONS", "/api/v1/chats", { headers }), 401, "invalid_api_key");
});
