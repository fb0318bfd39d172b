/** The console's static files among the Worker's assets. */
const SCRIPT = "/web-assets/console/page.js";
const STYLE = "/web-assets/console/page.css";

/**
 * The console's page: an HTML shell that loads two static files. It is the same for everybody, signed in or not.
 * `data-access` says that people can sign in with Cloudflare Access.
 */
export function shellFor(env: Env): string {
  return env.ACCESS_TEAM_DOMAIN ? SHELL.replace('<div id="console">', '<div id="console" data-access>') : SHELL;
}

const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Parley</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE}">
<script src="${SCRIPT}" type="module"></script>
</head>
<body>
<div id="console"></div>
<noscript><p>The console needs JavaScript.</p></noscript>
</body>
</html>
`;

/** Only the service's own scripts run, no text can become markup, and no site may frame the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  // The preview of a web chat.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

export const SHELL_HEADERS: Record<string, string> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": POLICY,
  // A deploy can change the names of the files.
  "Cache-Control": "no-cache",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};
