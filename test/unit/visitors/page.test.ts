import { expect, test } from "vitest";
import { chatPageHeaders, PREVIEW_HEADERS, PREVIEW_PAGE } from "../../../src/visitors/page.ts";

/** The sources that a policy allows for `directive`. */
function allowed(headers: Record<string, string>, directive: string): string | undefined {
  const lines = headers["Content-Security-Policy"]?.split("; ") ?? [];
  return lines.find((line) => line.startsWith(`${directive} `))?.slice(directive.length + 1);
}

test("the preview is the page of no channel, with nothing to draw yet", () => {
  expect(PREVIEW_PAGE).toContain("<title>Preview</title>");
  expect(PREVIEW_PAGE).toContain('<body>\n<div id="chat"></div>\n');
  expect(PREVIEW_PAGE).toContain('<script src="/web-assets/chat.js" type="module"></script>');
});

test("only the service itself frames the preview, which opens no socket", () => {
  expect(allowed(PREVIEW_HEADERS, "frame-ancestors")).toBe("'self'");
  expect(allowed(PREVIEW_HEADERS, "connect-src")).toBe("'self'");
  expect(PREVIEW_HEADERS).toMatchObject({
    "Content-Type": "text/html; charset=utf-8",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "SAMEORIGIN",
  });
});

test("apart from frames and sockets, the preview and the page have one policy", () => {
  const rest = (headers: Record<string, string>) =>
    headers["Content-Security-Policy"]?.split("; ").filter((line) => !/^(?:connect-src|frame-ancestors) /.test(line));
  const page = chatPageHeaders(new URL("https://parley.test/web/chn_g0"), []);
  expect(rest(PREVIEW_HEADERS)).toEqual(rest(page));
  expect([allowed(page, "connect-src"), allowed(page, "frame-ancestors")]).toEqual(["'self' wss://parley.test", "*"]);
});
