import { expect, test } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { signIn } from "../../support/console.ts";
import { call } from "../../support/harness.ts";

test.each(["/console", "/console/", `/console/o/${newId("org", null)}/inbox`, "/console/nowhere?x=1"])(
  "%s is the page, the same for everybody",
  async (path) => {
    const page = await call("GET", path);
    expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
    const signedIn = await call("GET", path, { headers: { Cookie: await signIn() } });
    expect(signedIn.text).toBe(page.text);
    expect(page.text).not.toMatch(/<script(?! src="\/web-assets\/console\/page\.js" type="module"><\/script>)/);
  },
);

test("no site can frame the page, run a script of its own in it, or reach its window", async () => {
  const { headers } = await call("GET", "/console");
  const policy = Object.fromEntries(
    (headers.get("Content-Security-Policy") ?? "").split("; ").map((rule) => {
      const [name = "", ...values] = rule.split(" ");
      return [name, values.join(" ")];
    }),
  );
  expect(policy).toEqual({
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "media-src": "'self'",
    "connect-src": "'self'",
    "frame-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
  });
  expect(headers.get("Cross-Origin-Opener-Policy")).toBe("same-origin");
  expect(headers.get("X-Frame-Options")).toBe("DENY");
  expect(headers.get("Referrer-Policy")).toBe("no-referrer");
  expect(headers.get("Set-Cookie")).toBeNull();
});

test("an unknown path of the API is no page", async () => {
  expect((await call("GET", "/console/api/nowhere")).status).toBe(401);
});

test("the preview of a chat is a page without a channel, which only the service itself frames", async () => {
  const page = await call("GET", "/console/preview");
  expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.text).toContain('<div id="chat"></div>');
  const policy = page.headers.get("Content-Security-Policy") ?? "";
  expect(policy).toContain("frame-ancestors 'self';");
  expect(policy).toContain("connect-src 'self';");
  expect(policy).not.toMatch(/wss?:/);
  expect(page.headers.get("X-Frame-Options")).toBe("SAMEORIGIN");
  expect(page.headers.get("Set-Cookie")).toBeNull();
});
