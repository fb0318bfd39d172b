/** Escapes text for HTML, including attribute values. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** For a page that scrolls. */
export const SCROLLING = "width=device-width, initial-scale=1";
/** For a page that fills a phone's screen and shrinks when the keyboard opens. */
const FULL_SCREEN = "width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content";

/** A page's parts. `script` and `body` are HTML, and all others are text. */
interface Page {
  title: string;
  /** The path of the style sheet. */
  style: string;
  /** The `script` element, if the page has one. */
  script?: string;
  /** The `body` element. */
  body: string;
  viewport?: string;
  /** For search engines. They don't list a page without it. */
  description?: string;
}

/** A page in English. */
export function htmlPage({ title, style, script, body, viewport = FULL_SCREEN, description }: Page): string {
  const forSearch =
    description === undefined
      ? 'name="robots" content="noindex"'
      : `name="description" content="${escapeHtml(description)}"`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="${viewport}">
<meta name="color-scheme" content="light dark">
<meta ${forSearch}>
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
${script ? `${script}\n` : ""}</head>
${body}
</html>
`;
}

/** The headers of a page with scripts. Browsers ask for it each time, because deploys and settings change it. */
export function htmlPageHeaders(policy: readonly string[]): Record<string, string> {
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy.join("; "),
    "Cache-Control": "no-cache",
    // The page needs no access to the window that opened it.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
}

/** The style sheet of the visitors' page, which has the look of a page with one sentence too. */
export const VISITORS_STYLE = "/web-assets/chat.css";

/** A page with a heading and a sentence, such as a 404. `text` is HTML. */
export function plainPage({ title, heading, text }: { title: string; heading: string; text: string }): string {
  return htmlPage({
    title,
    style: VISITORS_STYLE,
    viewport: SCROLLING,
    body: `<body class="no-channel">
<main class="empty">
<h1 class="empty-title">${heading}</h1>
<p>${text}</p>
</main>
</body>`,
  });
}

/** The page loads only its style sheet, and no site may frame it. */
export const PLAIN_PAGE_HEADERS: Record<string, string> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-cache",
  "Referrer-Policy": "no-referrer",
  Vary: "Accept",
  "X-Content-Type-Options": "nosniff",
};
