import { expect, test } from "vitest";
import { browser } from "./file-browser.ts";
import { openPlace } from "./fixtures.ts";
import { eventually, newUser, shown, visit, write } from "./visitor.ts";

const place = await openPlace();

const EMBEDS = [
  "iframe srcdoc='<script>alert(1)</script>'",
  "object data=x",
  "embed src=x",
  "form action=//evil.example",
];
const TAGS = ["img src=x", "svg", "details open", "body", "video src=x", "input", "math", "a href=x", ...EMBEDS];
const EVENTS = ["onerror", "onload", "ontoggle", "onfocus autofocus tabindex=1", "onmouseover", "onanimationstart"];
const QUOTES = ["", '"', "'>"];
const SCHEMES = ["javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x", "blob:x", "file:///"];
const PAYLOADS = [
  ...QUOTES.flatMap((quote) => TAGS.flatMap((tag) => EVENTS.map((event) => `${quote}<${tag} ${event}=alert(1)>`))),
  ...SCHEMES.flatMap((scheme) => [scheme, `<a href="${scheme}">x</a>`, `https://example.com/"onclick="${scheme}`]),
  "<script>alert(1)</script>",
  "</p></div></script><script>alert(1)</script>",
  "{{constructor.constructor('alert(1)')()}}",
  "https://example.com/<script>alert(1)</script>",
  "https://user@evil.example/",
  "\u202Egnp.exe\u202C",
  "<style>*{display:none}</style>",
  "<base href=https://evil.example/>",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  '{"__html":"<img src=x onerror=alert(1)>"}',
];

// One page of the chat at a time, each for its own visitor.
const PAGES = Array.from({ length: Math.ceil(PAYLOADS.length / 80) }, (_, n) => PAYLOADS.slice(n * 80, (n + 1) * 80));

test.for(PAGES)("any message stays text: no script runs, and no policy had to block one", async (payloads) => {
  const user = newUser();
  for (const payload of payloads) await place.say(user, payload);
  const page = await visit(browser, place, { user });
  // All of it is near the view, so all of it is drawn.
  await page.setViewportSize({ width: 480, height: 12_000 });
  const [own = ""] = payloads;
  await write(page, own);
  await eventually(() => shown(page), [...payloads, own]);
  for (const link of await page.getByRole("log").getByRole("link").all()) {
    await expect.poll(() => link.getAttribute("href")).toMatch(/^https:\/\/(example\.com|evil\.example)\//);
  }
  const made =
    "#chat :is(script, iframe, object, embed, img, style, base, video, details, math, input:not([type=file]))";
  await expect.poll(() => page.locator(made).count()).toBe(0);
  expect(page.faults).toEqual([]);
});

test("text with direction controls affects only itself", async () => {
  const user = newUser();
  const turned = "\u202Egnp.exe";
  await place.say(user, turned);
  const page = await visit(browser, place, { user });
  await eventually(() => shown(page), [turned]);
  for (const text of ["#chat .text", "#chat .title"]) {
    const direction = await page.locator(text).evaluate((element) => getComputedStyle(element).unicodeBidi);
    expect(direction, text).toMatch(/^(isolate|plaintext)/);
  }
});

test("the page's policy would block injected markup", async () => {
  const page = await visit(browser, place);
  const outcome = await page.evaluate(() => {
    try {
      document.body.innerHTML = "<b>markup</b>";
      return "became markup";
    } catch {
      return "was stopped";
    }
  });
  expect(outcome).toBe("was stopped");
  await expect.poll(() => page.faults).not.toEqual([]);
});

test("a file without an https address is refused, and its address in a text is not a link", async () => {
  const user = newUser();
  for (const address of [...SCHEMES, "http://example.com/x", "https://user:pass@example.com/"]) {
    expect(await place.trySaying(user, { content: "a file", type: "DOCUMENT", mediaUrl: address })).toBe(400);
  }
  for (const scheme of SCHEMES) await place.say(user, scheme, { type: "DOCUMENT" });
  const page = await visit(browser, place, { user });
  await eventually(() => shown(page), SCHEMES);
  await expect.poll(() => page.getByRole("log").getByRole("link").count()).toBe(0);
  expect(page.faults).toEqual([]);
});
