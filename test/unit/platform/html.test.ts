import { expect, test } from "vitest";
import {
  escapeHtml,
  htmlPage,
  htmlPageHeaders,
  PLAIN_PAGE_HEADERS,
  plainPage,
  VISITORS_STYLE,
} from "../../../src/platform/html.ts";

const page = { title: "A & B", style: "/a.css", body: "<body></body>" };

test("no text becomes markup", () => {
  expect(escapeHtml(`<a href="x" id='y'>&amp;`)).toBe("&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;");
  expect(htmlPage(page)).toContain("<title>A &amp; B</title>");
});

test("search engines list only a page with a description", () => {
  expect(htmlPage(page)).toContain('<meta name="robots" content="noindex">');
  const described = htmlPage({ ...page, description: '"Chat"' });
  expect(described).toContain('<meta name="description" content="&quot;Chat&quot;">');
  expect(described).not.toContain("robots");
});

test("a page has one style sheet, and a script only if it is given one", () => {
  const link = '<link rel="stylesheet" href="/a.css">\n';
  expect(htmlPage(page)).toContain(`${link}</head>\n<body></body>\n`);
  expect(htmlPage({ ...page, script: "<script></script>" })).toContain(`${link}<script></script>\n</head>`);
});

test("a page fills the screen above the keyboard, and a plain page scrolls", () => {
  const viewport = "width=device-width, initial-scale=1";
  expect(htmlPage(page)).toContain(
    `<meta name="viewport" content="${viewport}, viewport-fit=cover, interactive-widget=resizes-content">`,
  );
  const plain = plainPage({ title: "Gone", heading: "It is gone", text: "Ask <b>us</b>." });
  expect(plain).toContain(`<meta name="viewport" content="${viewport}">`);
  expect(plain).toContain('<body class="no-channel">');
  expect(plain).toContain('<h1 class="empty-title">It is gone</h1>\n<p>Ask <b>us</b>.</p>');
});

test("a plain page has the visitors' style sheet, and its title is text", () => {
  const plain = plainPage({ title: "A & B", heading: "Gone", text: "" });
  expect(VISITORS_STYLE).toBe("/web-assets/chat.css");
  expect(plain).toContain('<title>A &amp; B</title>\n<link rel="icon" href="data:,">\n');
  expect(plain).toContain('<link rel="stylesheet" href="/web-assets/chat.css">\n</head>');
});

test("a page with scripts is asked for each time, has its own policy, and no access to devices", () => {
  expect(htmlPageHeaders(["default-src 'none'", "script-src 'self'"])).toEqual({
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'",
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  });
});

test("a plain page loads only its style sheet, and no site frames it", () => {
  expect(PLAIN_PAGE_HEADERS).toEqual({
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy":
      "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    Vary: "Accept",
    "X-Content-Type-Options": "nosniff",
  });
});
