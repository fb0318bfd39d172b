import { configured } from "../platform/config.ts";
import { type Before, before } from "./before.ts";
import { answerNotFound } from "./not-found.ts";

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
