import { configured } from "../config.ts";
import { callObject } from "../platform/call-object.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import type { LineHost } from "./line-host.ts";
import { signatureHeaders } from "./signature.ts";
import { webhookUrlFault } from "./url.ts";

/** What the lines of every owner have in common: the webhooks' objects and the calls to the webhooks. */
export function linePorts(env: Env): Pick<LineHost, "clock" | "logger" | "webhook" | "checkUrl" | "sign" | "fetch"> {
  return {
    clock: SYSTEM_CLOCK,
    logger: console,
    webhook: (id) => ({
      permit: (request) => callObject(env.WEBHOOKS, id, (webhook) => webhook.permit(request)),
      report: (attempt) => callObject(env.WEBHOOKS, id, (webhook) => webhook.report(id, attempt)),
    }),
    // The service's own hosts are refused when the URL is written: an object does not know them.
    checkUrl: (url) => webhookUrlFault(url, { ownHosts: [], allowLocal: configured(env, "WEBHOOKS_ALLOW_LOCAL") }),
    sign: signatureHeaders,
    fetch: (url, init) => fetch(url, init),
  };
}
