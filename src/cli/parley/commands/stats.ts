import { command, PAGE_OPTIONS } from "../command.ts";

/** What an operator watches. */
export const statsCommands = [
  command({
    name: "stats",
    about: "What waits in channels and how attempts ended; how often keys were admitted and refused",
    options: {
      organization: { type: "string", value: "org_…", about: "those of this organization alone" },
      ...PAGE_OPTIONS,
    },
    async run({ options: { organization, page, limit }, service, out }) {
      const { body } = await service.asOperator("GET", "/stats", { query: { organization, page, limit } });
      if (out.json) {
        out.document(body);
        return;
      }
      const { pagination, ...lists } = body;
      out.list(lists, "channels", [
        ["CHANNEL", "id"],
        ["NAME", "name"],
        ["KIND", "kind"],
        ["HEALTH", "health.state"],
        ["WAITING", "queue.depth"],
        ["OLDEST", "queue.oldest", "time"],
        ["SENT", "attempts.sent"],
        ["RETRY", "attempts.retry"],
        ["FAILED", "attempts.failed"],
        ["UNKNOWN", "attempts.unknown"],
      ]);
      out.list(lists, "keys", [
        ["KEY", "id"],
        ["NAME", "name"],
        ["ADMITTED", "admitted"],
        ["RATE LIMITED", "refused.rate_limited"],
        ["OVER QUOTA", "refused.quota_exceeded"],
        ["NO PERMISSION", "refused.permission_denied"],
        ["ADDRESS", "refused.ip_not_allowed"],
        ["INVALID", "refused.invalid_api_key"],
      ]);
      // Said once, and not of either list: the total is that of the longer one.
      const place = pagination as { page: number; totalPages: number };
      if (place.totalPages > 1) out.note(`Page ${place.page} of ${place.totalPages}.`);
    },
  }),
];
