/** The maximum length of a webhook's URL in characters. */
export const MAX_WEBHOOK_URL = 2_048;

const MAX_HOST = 253;
const MAX_LABEL = 63;
/** Names that no public DNS answers, or that lead to the caller's own network. */
const LOCAL_NAME = /(?:^|\.)(?:local|internal|localhost|arpa|onion)$/;
/** The URL parser writes every form of an IPv4 address with four decimal numbers. */
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
/** The URL parser removes these characters or replaces them, so that the URL would not be the one that was checked. */
const UNSAFE = /[\s\p{Cc}\\]/u;
const USER_INFO = /^[a-z]+:\/*[^/?#]*@/i;

export interface WebhookUrlOptions {
  /** The hosts of this service, each with its port unless it is the default: `parley.example`, `localhost:8787`. */
  ownHosts: readonly string[];
  /** Whether `http` and `https` URLs of this machine are allowed, on any port. */
  allowLocal: boolean;
}

/**
 * What is wrong with the URL of a webhook, as a sentence without its subject. Null if the service may call it. Checked
 * when the URL is written and before each call.
 *
 * A Worker can't see to which address a name resolves. The platform's `fetch` reaches no private network, so these rules
 * are only one of the layers that protect internal services.
 */
export function webhookUrlFault(text: string, { ownHosts, allowLocal }: WebhookUrlOptions): string | null {
  if (text.length > MAX_WEBHOOK_URL) return `must have at most ${MAX_WEBHOOK_URL} characters`;
  const url = UNSAFE.test(text) ? null : URL.parse(text);
  if (!url) return "must be a URL such as https://example.com/webhooks";
  if (USER_INFO.test(text)) return "must not contain a user name or a password";
  if (text.includes("#")) return "must not contain a fragment";
  if (ownHosts.some((own) => own.toLowerCase() === url.host)) return "must not be an address of this service";
  if (allowLocal && /^https?:$/.test(url.protocol) && LOOPBACK.test(url.hostname)) return null;
  if (url.protocol !== "https:") return "must begin with https://";
  if (url.port !== "") return "must use port 443";
  return hostFault(url.hostname);
}

/** The URL as the parser writes it, so that two forms of one URL are equal. @param text a URL without a fault */
export function normalizedUrl(text: string): string {
  return new URL(text).href;
}

/** @param host after the URL parser: in lower case, with international names in Punycode */
function hostFault(host: string): string | null {
  if (host.startsWith("[") || IPV4.test(host)) return "must have a host name, not an IP address";
  const labels = host.split(".");
  if (labels.at(-1) === "") return "must have a host name that does not end with a dot";
  if (LOCAL_NAME.test(host)) return "must have a public host name";
  if (labels.length === 1) return "must have a host name with a dot";
  const isTooLong = host.length > MAX_HOST || labels.some((label) => label.length > MAX_LABEL);
  if (isTooLong || labels.includes("")) return "must have a valid host name";
  return null;
}
