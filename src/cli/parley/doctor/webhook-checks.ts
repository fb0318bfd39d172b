import { webhookUrlFault } from "../../../model/webhook-url.ts";
import { bad, type Check, ok } from "../check.ts";
import type { Service } from "../service.ts";
import { printable } from "../table.ts";
import { relativeTime } from "../times.ts";
import { type ListedWebhook, webhooksOf } from "../webhook-list.ts";

const WHY_DISABLED: Record<string, string> = {
  failing: "no call succeeded for five days",
  gone: "the receiver answered 410",
  customer: "the organization disabled it",
  operator: "the operator disabled it",
};

/** Checks that an organization's webhooks work and can be called. */
export async function webhookChecks(service: Service, organization: string, now: number): Promise<Check[]> {
  const { webhooks } = await webhooksOf(service, organization);
  return webhooks.flatMap((webhook) => {
    const { id, failed } = webhook;
    const what = `webhook ${id}`;
    const checks = [addressCheck(service, webhook, what) ?? stateCheck(webhook, what, now)];
    if (failed > 0) {
      const advice = `parley webhooks replay ${id} --failed, once its receiver works`;
      checks.push(bad(`events of ${id}`, "warns", `${failed} given up`, advice));
    }
    return checks;
  });
}

/** The fault of an address that the service refuses to call, or null. It may have been good when it was set. */
function addressCheck({ connection }: Service, { id, url }: ListedWebhook, what: string): Check | null {
  const rules = { ownHosts: [new URL(connection.url).host], allowLocal: connection.isHere };
  const fault = webhookUrlFault(url, rules);
  return fault === null
    ? null
    : bad(what, "fails", `its address ${fault}`, `parley webhooks change ${id} --url <address>`);
}

function stateCheck({ id, state, reason, since, disablesAt }: ListedWebhook, what: string, now: number): Check {
  const attempts = `parley webhooks attempts ${id} shows the answers`;
  const when = relativeTime(since, now);
  if (state === "ok") return ok(what, `works; last change ${when}`);
  if (state === "trial") return bad(what, "warns", "no call has succeeded yet", `parley webhooks ping ${id} tries one`);
  if (state === "disabled") {
    const why = WHY_DISABLED[reason ?? ""] ?? printable(reason ?? "no reason");
    // Somebody who disables a webhook wants it so.
    const state = reason === "customer" || reason === "operator" ? "warns" : "fails";
    return bad(what, state, `was disabled ${when}: ${why}`, `parley webhooks enable ${id}; ${attempts}`);
  }
  const end = disablesAt === null ? "" : `, and will be disabled ${relativeTime(disablesAt, now)}`;
  return bad(what, "fails", `has been failing since ${since.slice(0, 16).replace("T", " ")} UTC${end}`, attempts);
}
