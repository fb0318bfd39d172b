import { unavailable } from "../model/error.ts";
import { configured } from "../platform/config.ts";
import { type Before, before } from "./before.ts";
import { answerNotFound } from "./not-found.ts";

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

/**
 * Middleware: if the console has a host of its own, this host serves the console alone, and no other host serves it. So
 * no visitors' page shares an origin with the console.
 */
export function separateConsole(): Before<{ Bindings: Env }> {
  return before((c) => {
    const { env, req } = c;
    const consoleHost = configured(env, "CONSOLE_HOST");
    if (consoleHost === undefined || req.path === "/healthz") return undefined;
    const isConsole = req.path === "/console" || req.path.startsWith("/console/");
    const isConsoleHost = new URL(req.url).host === consoleHost;
    if (isConsoleHost && req.path === "/") return c.redirect("/console");
    return isConsole === isConsoleHost ? undefined : answerNotFound(c);
  });
}
