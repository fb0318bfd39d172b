import { callObject, NEARBY } from "../../calls/call-object.ts";
import { ownHosts } from "../../http/hosts.ts";
import { signatureHeaders } from "../../model/webhook-signature.ts";
import { webhookUrlFault } from "../../model/webhook-url.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { configured } from "../../platform/config.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import type { SubscriptionHost } from "./host.ts";

/** What the subscriptions of every owner have in common: the webhooks' objects and the calls to the webhooks. */
export function subscriptionPorts(
  env: Env,
  alarm: Pick<StandingAlarm, "depth">,
): Pick<SubscriptionHost, "clock" | "logger" | "webhook" | "checkUrl" | "sign" | "fetch"> {
  const depth = () => alarm.depth + 1;
  return {
    clock: SYSTEM_CLOCK,
    logger: console,
    webhook: (id) => ({
      permit: (request) =>
        callObject(env.WEBHOOKS, id, (webhook) => webhook.permit({ ...request, depth: depth() }), NEARBY),
      report: (attempt) => callObject(env.WEBHOOKS, id, (webhook) => webhook.report(id, attempt, depth()), NEARBY),
      giveBack: (...given) =>
        callObject(env.WEBHOOKS, id, (webhook) => webhook.giveBack(id, ...given, depth()), NEARBY),
      lineGone: (...gone) => callObject(env.WEBHOOKS, id, (webhook) => webhook.lineGone(id, ...gone), NEARBY),
    }),
    // An object knows only the hosts in the configuration. The request's host is checked when the URL is written.
    checkUrl: (url) =>
      webhookUrlFault(url, { ownHosts: ownHosts(env), allowLocal: configured(env, "WEBHOOKS_ALLOW_LOCAL") }),
    sign: signatureHeaders,
    fetch: (url, init) => fetch(url, init),
  };
}
