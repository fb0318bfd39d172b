import { configured } from "../platform/config.ts";
import { htmlPage, htmlPageHeaders } from "../platform/html.ts";

/** The console's static files among the Worker's assets. */
const SCRIPT = "/web-assets/console/page.js";
const STYLE = "/web-assets/console/page.css";

/**
 * The console's page: an HTML shell that loads two static files. It is the same for everybody, signed in or not.
 * `data-access` says that people can sign in with Cloudflare Access, `data-local` that webhooks can call this machine, and
 * `data-rate` is the default rate limit of new keys, unless it is malformed. `data-host` is the host of visitors' pages, if
 * the console has one of its own.
 */
export function shellFor(env: Env): string {
  const { ACCESS_TEAM_DOMAIN, WEBHOOKS_ALLOW_LOCAL, RATE_LIMIT } = env;
  const publicHost = configured(env, "CONSOLE_HOST") && configured(env, "PUBLIC_HOST");
  const facts = [
    ACCESS_TEAM_DOMAIN && " data-access",
    publicHost && ` data-host="${publicHost}"`,
    WEBHOOKS_ALLOW_LOCAL === "true" && " data-local",
    /^\d+$/.test(RATE_LIMIT) && ` data-rate="${RATE_LIMIT}"`,
  ];
  return SHELL.replace('<div id="console">', `<div id="console"${facts.filter(Boolean).join("")}>`);
}

const SHELL = htmlPage({
  title: "Parley",
  style: STYLE,
  script: `<script src="${SCRIPT}" type="module"></script>`,
  body: `<body>
<div id="console"></div>
<noscript><p>The console needs JavaScript.</p></noscript>
</body>`,
});

/** Only the service's own scripts run, no text can become markup, and no site may frame the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self'",
  "connect-src 'self'",
  // The preview of a web chat.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

export const SHELL_HEADERS: Record<string, string> = {
  ...htmlPageHeaders(POLICY),
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
};
