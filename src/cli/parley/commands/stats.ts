import { command, ORGANIZATION_OPTION, PAGE_OPTIONS } from "../command.ts";
import type { Output } from "../output.ts";
import type { Service } from "../service.ts";
import { webhooksOf } from "../webhook-list.ts";

/** The statistics of an organization's channels and keys. */
export const statsCommands = [
  command({
    name: "stats",
    about: "Show an organization's numbers: its channels' queues, its keys' requests, its webhooks' backlog",
    options: { ...PAGE_OPTIONS, ...ORGANIZATION_OPTION },
    async run({ options: { page, limit, ...options }, service, out }) {
      const { adminToken, apiKey } = service.connection;
      const usesKey = adminToken === null && apiKey !== null && options.organization === undefined;
      const organization = usesKey ? null : await service.organization(options.organization);
      const query = { ...(organization !== null && { organization }), page, limit };
      const { body } = await (usesKey
        ? service.asClient("GET", "/stats", { query })
        : service.asOperator("GET", "/stats", { query }));
      if (out.json) {
        out.document(body);
        return;
      }
      const { pagination, ...lists } = body;
      out.list(lists, "channels", {
        CHANNEL: "id",
        NAME: "name",
        KIND: "kind",
        HEALTH: "health.state",
        WAITING: "queue.depth",
        OLDEST: "queue.oldest",
        SENT: "attempts.sent",
        RETRY: "attempts.retry",
        FAILED: "attempts.failed",
        UNKNOWN: "attempts.unknown",
      });
      out.list(lists, "keys", {
        KEY: "id",
        NAME: "name",
        ADMITTED: "admitted",
        "RATE LIMITED": "refused.rate_limited",
        "OVER QUOTA": "refused.quota_exceeded",
        "NO PERMISSION": "refused.permission_denied",
        ADDRESS: "refused.ip_not_allowed",
        INVALID: "refused.invalid_api_key",
      });
      await showWebhooks(service, organization, out);
      // One note for both lists, without a total: the service counts the longer list only.
      const { page: current, totalPages } = pagination as { page: number; totalPages: number };
      if (totalPages > 1) out.note(`Page ${current} of ${totalPages}.`);
    },
  }),
];

/** The webhooks, if there are any. */
async function showWebhooks(service: Service, organization: string | null, out: Output): Promise<void> {
  const list = await webhooksOf(service, organization);
  if (list.webhooks.length === 0) return;
  out.list(list, "webhooks", {
    WEBHOOK: "id",
    STATE: "state",
    SINCE: "since",
    "WAITING CHATS": "waitingChats",
    FAILED: "failed",
    "LAST SUCCESS": "lastSuccessAt",
  });
}
