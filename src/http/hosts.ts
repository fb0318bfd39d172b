import { unavailable } from "../model/error.ts";
import { configured } from "../platform/config.ts";

/** The origin of the console: that of the request, unless the console has a host of its own. */
export function consoleOrigin(env: Env, url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${configured(env, "CONSOLE_HOST") ?? host}`;
}

/**
 * The origin of the API, of webhooks and of visitors' pages: that of the request, unless it is the console's own.
 * @throws ApiError `unavailable` if a request of the console needs it, and `PUBLIC_HOST` is missing
 */
export function publicOrigin(env: Env, url: string): string {
  const { protocol, host } = new URL(url);
  if (host !== configured(env, "CONSOLE_HOST")) return `${protocol}//${host}`;
  const publicHost = configured(env, "PUBLIC_HOST");
  if (publicHost === undefined) throw unavailable("configuration: CONSOLE_HOST needs PUBLIC_HOST");
  return `${protocol}//${publicHost}`;
}

/** The hosts of this service that it knows: those of the configuration, and that of a request. */
export function ownHosts(env: Env, url?: string): string[] {
  const hosts = [configured(env, "PUBLIC_HOST"), configured(env, "CONSOLE_HOST"), url && new URL(url).host];
  return hosts.filter((host) => host !== undefined && host !== "") as string[];
}
