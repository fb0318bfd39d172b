import { exports } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { admin, call, expectError, newChannel, newOrganization } from "../../support/harness.ts";
import { newSite } from "../../support/sockets.ts";

const BROWSER = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

test("a browser that requests an unknown channel gets a readable page with status 404", async () => {
  for (const id of [newId("chn", null), "nonsense"]) {
    const response = await exports.default.fetch(`https://parley.test/web/${id}`, { headers: BROWSER });
    const { status, headers } = response;
    const text = await response.text();
    expect([status, headers.get("Content-Type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(text).toContain('<h1 class="empty-title">This chat doesn’t exist</h1>');
    expect(text).not.toContain(id);
    expect(text).not.toContain("<script");
    expect(headers.get("Content-Security-Policy")).toMatch(
      /^default-src 'none'; style-src 'self'; .*frame-ancestors 'none'/,
    );
    expect(headers.get("Vary")).toBe("Accept");
  }
});

test.each([undefined, "*/*", "application/json", "text/html;q=0, application/json"])(
  "a program that accepts %s gets the error as JSON",
  async (accept) => {
    const headers = accept === undefined ? {} : { Accept: accept };
    const { organizationId } = await newOrganization();
    for (const id of [newId("chn", null), await newChannel(organizationId, "telegram"), "nothing"]) {
      expectError(await call("GET", `/web/${id}`, { headers }), 404, "channel_not_found");
    }
  },
);

const SHOP = "https://shop.example";

test.each<[string[], string | undefined, boolean]>([
  [[], SHOP, true],
  [[SHOP], SHOP, true],
  [[SHOP], undefined, true],
  [[SHOP], "https://parley.test", true],
  [[SHOP], "https://other.example", false],
  [[SHOP], "null", false],
])(
  "with %j allowed, a widget on %s learns whether the chat can be shown: %s",
  async (allowedOrigins, origin, shown) => {
    const { channelId } = await newSite({ allowedOrigins });
    const headers = origin === undefined ? {} : { Origin: origin };
    const answer = await call("GET", `/web/${channelId}/availability`, { headers });
    const look = { title: "Acme support", accentColor: null, logoUrl: null };
    const open = { isOpen: true, changesAt: null, hideWhenClosed: false };
    expect([answer.status, answer.body]).toEqual([200, { available: shown, ...(shown && { ...open, ...look }) }]);
    // Any site may read it, so that the widget can distinguish a refusal from a lost connection.
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(answer.headers.get("Cache-Control")).toBe("private, max-age=60");
    expect(answer.headers.get("Vary")).toBe("Origin");
  },
);

test("a widget and the page learn the channel's look, its hours, and changes of both", async () => {
  const hours = { timeZone: "UTC", week: {} };
  const look = { title: "Acme", accentColor: "#aa0000", logoUrl: "https://acme.example/logo.png" };
  const { channelId } = await newSite({ ...look, hours, hideWhenClosed: true, greeting: "Hi", starters: ["Prices"] });
  const facts = { ...look, isOpen: false, changesAt: null, hideWhenClosed: true };
  expect((await call("GET", `/web/${channelId}/availability`)).body).toEqual({ available: true, ...facts });
  const more = { uploads: "everyone", greeting: "Hi", starters: ["Prices"], texts: {}, askContact: "never" };
  expect(await factsOf(channelId)).toEqual({ ...facts, ...more });
  const settings = { title: null, hours: null, texts: { de: { send: "Los" } } };
  expect((await admin("PATCH", `/channels/${channelId}`, { settings })).status).toBe(200);
  // Each isolate remembers a channel for a few seconds.
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
  const now = { ...facts, ...more, title: "Acme support", isOpen: true, texts: settings.texts };
  expect(await factsOf(channelId)).toEqual(now);
});

test("a look that can't be shown is refused, with the path of the fault", async () => {
  const { channelId } = await newSite({ title: "Acme" });
  const week = { monday: [{ opens: "17:00", closes: "09:00" }] };
  const settings = { title: "New", hours: { timeZone: "UTC", week }, texts: { de: { sned: "Los" } } };
  const answer = await admin("PATCH", `/channels/${channelId}`, { settings });
  expectError(answer, 400, "validation_failed");
  expect(answer.body.errors.map(({ path }: { path: string }) => path)).toEqual([
    "settings.texts.de.sned",
    "settings.hours.week.monday.0.closes",
  ]);
  expect(await factsOf(channelId)).toMatchObject({ title: "Acme", texts: {} });
});

/** What the page says of its channel. */
async function factsOf(channelId: string) {
  const { text } = await call("GET", `/web/${channelId}`);
  const [, json = ""] = /data-facts="([^"]*)"/.exec(text) ?? [];
  return JSON.parse(json.replaceAll("&quot;", '"'));
}

test("the chat of an unknown channel can't be shown anywhere", async () => {
  const answer = await call("GET", `/web/${newId("chn", null)}/availability`, { headers: { Origin: SHOP } });
  expect([answer.status, answer.body]).toEqual([200, { available: false }]);
});

test("the page has its security policy, and follows the settings", async () => {
  const { channelId } = await newSite({ allowedOrigins: [SHOP, "https://www.shop.example:8443"] });
  const page = await call("GET", `/web/${channelId}`);
  expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.headers.get("Content-Security-Policy")).toContain(
    `frame-ancestors 'self' ${SHOP} https://www.shop.example:8443;`,
  );
  expect(page.headers.get("X-Request-Id")).not.toBeNull();
  expect(page.text).toContain(`data-channel="${channelId}" data-facts="{&quot;isOpen&quot;:true,`);
});

test("the page and the socket accept no other methods", async () => {
  const { channelId } = await newSite();
  for (const path of [`/web/${channelId}`, `/web/${channelId}/socket`]) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      expectError(await call(method, path), 405, "method_not_allowed");
    }
  }
});
