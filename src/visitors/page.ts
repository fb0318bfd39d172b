import type { PageFacts } from "../model/page-facts.ts";
import { escapeHtml, htmlPage, htmlPageHeaders, plainPage, VISITORS_STYLE } from "../platform/html.ts";

/** The page's script among the Worker's assets. */
const SCRIPT = "/web-assets/chat.js";

/**
 * The chat page: an HTML shell that has the channel's settings and loads two static files. It contains no data about the
 * visitor and no inline script. If the channel has no title, the page's is "Chat".
 */
export function chatPage(channelId: string, facts: PageFacts): string {
  const attributes = ` data-channel="${escapeHtml(channelId)}" data-facts="${escapeHtml(JSON.stringify(facts))}"`;
  return shell(facts.title || "Chat", attributes);
}

/** The page as the console shows it while a person changes the settings. It belongs to no channel: the console says what to draw. */
export const PREVIEW_PAGE = shell("Preview", "");

/** The preview's headers. Only the service itself may frame it, and it opens no socket. */
export const PREVIEW_HEADERS: Record<string, string> = {
  ...htmlPageHeaders(policy("'self'", "'self'")),
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "SAMEORIGIN",
};

function shell(title: string, attributes: string): string {
  return htmlPage({
    title,
    style: VISITORS_STYLE,
    script: `<script src="${SCRIPT}" type="module"></script>`,
    body: `<body>
<div id="chat"${attributes}></div>
<noscript><p>This chat needs JavaScript.</p></noscript>
</body>`,
  });
}

/**
 * The page's headers. Only the channel's `allowedOrigins` (any site if empty) and the service itself may frame the page.
 * Only the service's own script runs, and no text can become markup.
 * @param url the URL of the request
 */
export function chatPageHeaders(url: URL, allowedOrigins: readonly string[]): Record<string, string> {
  // The full URL, because older browsers don't apply 'self' to sockets.
  const socket = `${url.protocol === "http:" ? "ws:" : "wss:"}//${url.host}`;
  const ancestors = allowedOrigins.length > 0 ? `'self' ${allowedOrigins.join(" ")}` : "*";
  return htmlPageHeaders(policy(`'self' ${socket}`, ancestors));
}

function policy(connects: string, ancestors: string): string[] {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // A linked picture, a logo, and the preview of a file that the visitor is about to send.
    "img-src 'self' data: blob: https:",
    "media-src 'self' https:",
    `connect-src ${connects}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
}

/** The page for a link to a web channel that does not exist. It repeats no part of the link. */
export const NO_CHANNEL_PAGE = plainPage({
  title: "Chat not found",
  heading: "This chat doesn’t exist",
  text: "Check the link, or ask the company for a new one.",
});
