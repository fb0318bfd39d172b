import { expect, test } from "vitest";
import { pageFactsOf } from "../../src/model/page-facts.ts";
import { chatPage, chatPageHeaders } from "../../src/visitors/page.ts";
import { readFacts } from "../../src/web/visitor/facts.ts";

const pageOf = (name: string, settings = {}) => chatPage("chn_g0", pageFactsOf({ name, settings }, Date.now()));
const url = new URL("https://parley.example/web/chn_g0");

test("the page has no inline script, and a name can't become markup", () => {
  const page = pageOf(`"><script>alert(1)</script>'&`);
  expect(page.match(/<script[^>]*>/g)).toEqual(['<script src="/web-assets/chat.js" type="module">']);
  expect(page).toContain("&quot;title&quot;:&quot;\\&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;&quot;");
});

test("only the allowed origins can frame the page, or any origin if there are none", () => {
  const policy = (origins: string[]) => chatPageHeaders(url, origins)["Content-Security-Policy"];
  expect(policy(["https://a.example", "https://b.example"])).toContain(
    "frame-ancestors 'self' https://a.example https://b.example;",
  );
  expect(policy([])).toContain("frame-ancestors *;");
});

test("the policy allows connections only to the page's own origin", () => {
  const policy = chatPageHeaders(url, [])["Content-Security-Policy"];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("connect-src 'self' wss://parley.example;");
  expect(policy).not.toContain("unsafe");
});

test("the page has its channel's id, and its name or the title Chat", () => {
  const named = pageOf("Acme");
  expect(named).toContain("<title>Acme</title>");
  expect(named).toContain('<div id="chat" data-channel="chn_g0" data-facts="{&quot;isOpen&quot;:true,');
  expect(named).toContain('<link rel="stylesheet" href="/web-assets/chat.css">');
  const nameless = pageOf("");
  expect(nameless).toContain("<title>Chat</title>");
  expect(nameless).toContain("&quot;title&quot;:&quot;&quot;");
});

test("the page has exactly these headers", () => {
  expect(chatPageHeaders(new URL("http://localhost:8787/web/chn_g0"), ["https://a.example"])).toEqual({
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob: https:; " +
      "media-src 'self' https:; " +
      "connect-src 'self' ws://localhost:8787; base-uri 'none'; form-action 'none'; " +
      "frame-ancestors 'self' https://a.example; require-trusted-types-for 'script'; trusted-types 'none'",
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  });
});

test("the script reads what the page says of the channel, and does without it", () => {
  const settings = { title: "Acme & Co", greeting: "Hi", starters: ["Prices"], texts: { de: { send: "Los" } } };
  const facts = pageFactsOf({ name: "Acme", settings }, Date.now());
  expect(readFacts(JSON.stringify(facts))).toEqual(facts);
  expect(facts).toMatchObject({ ...settings, isOpen: true, changesAt: null, askContact: "never", logoUrl: null });
  for (const text of [undefined, "", "no JSON"]) expect(readFacts(text)).toMatchObject({ title: "", isOpen: true });
});
