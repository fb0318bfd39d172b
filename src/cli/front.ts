/** What answered in place of the service, and what to do. `passes`: it can end on its own, as after a first deploy. */
export interface FrontFault {
  found: string;
  advice: string;
  passes: boolean;
}

const ZONE_SETTINGS = '"Zone settings" in the guide Deploying';

/** Cloudflare's errors of four digits, as `error code: 1010`. */
const ERRORS: Record<string, Omit<FrontFault, "passes">> = {
  1010: {
    found: "Cloudflare's Browser Integrity Check refuses programs (error 1010)",
    advice: `turn it off for this host: ${ZONE_SETTINGS} has a Configuration Rule`,
  },
  1015: {
    found: "a rate limiting rule of the zone refuses requests (error 1015)",
    advice: "exclude this host from the rule: the service has limits of its own",
  },
  1020: {
    found: "a security rule of the zone refuses requests (error 1020)",
    advice: `exclude this host from the rule: ${ZONE_SETTINGS}`,
  },
  1027: {
    found: "the account has used up the requests of its day (error 1027)",
    advice: "move the account to Workers Paid, or wait until 00:00 UTC",
  },
  1101: {
    found: "the Worker throws at each request (error 1101)",
    advice: "npx wrangler tail shows why",
  },
  1102: {
    found: "the Worker uses more CPU time than the plan allows (error 1102)",
    advice: "move the account to Workers Paid",
  },
};

/** Errors that end once a new version or name has reached all locations. */
const PASSING = ["1101"];

/**
 * Whether a response comes from what is in front of the service: a challenge, a log-in, a redirect, a rule of the zone, or
 * an error of Cloudflare. Null if it may be the service's own.
 * @param text the start of its body
 */
export function frontFault(response: Pick<Response, "status" | "headers" | "url">, text: string): FrontFault | null {
  const { status, headers } = response;
  if (headers.get("cf-mitigated") === "challenge") {
    return {
      found: "Cloudflare answers programs with a challenge, so no client and no network can reach the service",
      advice: `turn off Bot Fight Mode and Under Attack mode for this host: ${ZONE_SETTINGS}`,
      passes: false,
    };
  }
  if (status >= 300 && status < 400 && status !== 304) return redirectFault(headers.get("Location"), response.url);
  if (status < 400 || headers.has("X-Request-Id")) return null;
  const [, code] = /\berror code: (1\d{3})\b/.exec(text) ?? [];
  if (code) {
    const known = ERRORS[code] ?? {
      found: `Cloudflare answers with error ${code}`,
      advice: `look up Cloudflare's error ${code}`,
    };
    return { ...known, passes: ERRORS[code] === undefined || PASSING.includes(code) };
  }
  const isCloudflare = headers.get("Server")?.toLowerCase() === "cloudflare" || headers.has("CF-Ray");
  if (!isCloudflare) return null;
  if (status >= 520) {
    return { found: `Cloudflare answers ${status}`, advice: "repeat this in some minutes", passes: true };
  }
  if (status !== 403 && status !== 429) return null;
  return {
    found: `a security rule of the zone answers ${status}`,
    advice: `exclude this host from the rule: ${ZONE_SETTINGS}. The zone's Security Events name it`,
    passes: false,
  };
}

/** @param from the URL that was called; "" if the runtime does not tell */
function redirectFault(location: string | null, from: string): FrontFault {
  const target = location === null ? null : URL.parse(location, from || undefined);
  if (
    target &&
    (/(?:^|\.)cloudflareaccess\.com$/.test(target.hostname) || target.pathname.startsWith("/cdn-cgi/access/"))
  ) {
    return {
      found: "Cloudflare Access asks for a log-in",
      advice: 'cover only the console with the Access application: "Cloudflare Access" in the guide Deploying',
      passes: false,
    };
  }
  return {
    found: `the address redirects to ${target?.origin ?? "another one"}`,
    advice: "use that address, or remove the redirect. A redirect is not followed, because it would get the secret",
    passes: false,
  };
}
