import { expect, test } from "vitest";
import { call } from "../../support/harness.ts";

const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

test.each(["/docs/nope", "/docs/reference/nope", "/web/chn_gNope/nope"])(
  "a browser gets a page at the unknown address %s, and a program JSON",
  async (path) => {
    const page = await call("GET", path, { headers: BROWSER });
    expect([page.status, page.headers.get("Content-Type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(page.text).toContain("doesn’t exist</h1>");
    expect((await call("GET", path)).body).toMatchObject({ error: expect.stringMatching(/not found/i) });
  },
);

test("an unknown address of the APIs is JSON for a browser too", async () => {
  const answer = await call("GET", "/nowhere", { headers: BROWSER });
  expect([answer.status, answer.body?.code]).toEqual([404, "not_found"]);
});
