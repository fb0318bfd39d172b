import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { ERRORS, type ErrorCode } from "../../../src/model/error.ts";
import { admin, call, expectError } from "../../support/harness.ts";
import { routesBelow, withUnknownIds } from "../../support/routes.ts";

const ROUTES = routesBelow("/admin/v1/");
const LEFT_OUT = ["/admin/v1/channels/:id/webhook"];

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const WITH_ID = ROUTES.filter(([, path]) => path.includes(":id") && !LEFT_OUT.includes(path));

const BODIES: Record<string, object> = {
  members: { name: "Bob" },
  channels: { kind: "web", name: "Site" },
  templates: { name: "t", language: "en", body: "Hi" },
  replies: { name: "r", content: "Hi" },
  labels: { name: "l" },
  keys: { name: "Key" },
  webhooks: { url: "https://example.com/hook" },
  replays: { failed: true },
  "chats/:chatId/skip": { eventId: "evt_gaaaaaaaaaaaaaaa000000001" },
};

test.each(WITH_ID)("%s %s is a 404 with an error for an unknown id", async (method, path) => {
  const [, plural = "", last = ""] = /^\/admin\/v1\/(\w+)\/:id\/?(.*)$/.exec(path) ?? [];
  const patch = plural === "webhooks" ? { description: "New" } : { name: "New" };
  const body = method === "PATCH" ? patch : BODIES[last];
  const needsChannel =
    path === "/admin/v1/organizations/:id/chats"
      ? { channelId: "chn_gaaaaaaaaaaaaaaa", contact: { address: "a" } }
      : body;
  const name = plural === "replies" ? "reply" : plural.slice(0, -1);
  const code = `${name}_not_found` as ErrorCode;
  for (const filled of [withUnknownIds(path), withUnknownIds(path).replace(/_gaaaaaaaaaaaaaaa/, "_x")]) {
    const answer = await call(method, filled, {
      headers: bearer(env.ADMIN_TOKEN),
      ...(method !== "GET" && method !== "DELETE" && { body: needsChannel }),
    });
    expect([answer.status, answer.body]).toEqual([404, { error: ERRORS[code].text, code }]);
  }
});

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const PATHS = [...new Set(ROUTES.map(([, path]) => path))];

test.each(PATHS)(
  "%s responds to other methods with 405 and the allowed ones, but only to the operator",
  async (path) => {
    const allowed = ROUTES.filter(([, other]) => other === path).map(([method]) => method);
    const expected = allowed.includes("GET") ? [...allowed, "HEAD"] : allowed;
    for (const method of METHODS.filter((other) => !allowed.includes(other))) {
      const answer = await call(method, withUnknownIds(path), { headers: bearer(env.ADMIN_TOKEN) });
      expectError(answer, 405, "method_not_allowed", /^Method not allowed$/);
      expect(answer.headers.get("Allow")?.split(", ").sort()).toEqual(expected.toSorted());
      expectError(await call(method, withUnknownIds(path)), 401, "missing_authorization");
    }
  },
);

test("a body over 64 KiB is 413", async () => {
  const body = { name: "x".repeat(65_536), owner: { name: "Ada" } };
  expectError(await admin("POST", "/organizations", body), 413, "body_too_large");
});
