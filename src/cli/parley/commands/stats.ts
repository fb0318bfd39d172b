import { HANDED_OVER } from "../../../model/handover.ts";
import type { ResponseTimes } from "../../../model/response-time.ts";
import { command, ORGANIZATION_OPTION, option, PAGE_OPTIONS } from "../command.ts";
import type { Output } from "../output.ts";
import type { Service } from "../service.ts";
import { webhooksOf } from "../webhook-list.ts";

const OF_ATTEMPTS = {
  SENT: "attempts.sent",
  RECEIVED: "received",
  RETRY: "attempts.retry",
  FAILED: "attempts.failed",
  UNKNOWN: "attempts.unknown",
};

const OF_REQUESTS = {
  ADMITTED: "admitted",
  "RATE LIMITED": "refused.rate_limited",
  "OVER QUOTA": "refused.quota_exceeded",
  "NO PERMISSION": "refused.permission_denied",
  ADDRESS: "refused.ip_not_allowed",
  INVALID: "refused.invalid_api_key",
};

const OF_CONVERSATIONS = {
  RECEIVED: "received",
  SENT: "sent",
  ANSWERS: "answers",
  "<1M": "classes.within1m",
  "<5M": "classes.within5m",
  "<15M": "classes.within15m",
  "<1H": "classes.within1h",
  "<4H": "classes.within4h",
  "<24H": "classes.within24h",
  LATER: "classes.later",
  "MEDIAN S": "responseTimes.medianSeconds",
  "P90 S": "responseTimes.p90Seconds",
};

const OF_LABELED = { OPEN: "open", SNOOZED: "snoozed", CLOSED: "closed", UNANSWERED: "unanswered" };

const OF_CHANNELS = {
  "NEW CHATS": "newChats",
  ...OF_CONVERSATIONS,
  ACCEPTED: "attempts.sent",
  RETRY: "attempts.retry",
  FAILED: "attempts.failed",
  UNKNOWN: "attempts.unknown",
};

/** The statistics of an organization's channels, keys and members. */
export const statsCommands = [
  command({
    name: "stats",
    about:
      "Show an organization's numbers: its channels' queues, its keys' requests, its members' chats, its webhooks' backlog",
    options: {
      ...PAGE_OPTIONS,
      ...ORGANIZATION_OPTION,
      label: option("id", "Also the numbers of the chats with this label"),
    },
    async run({ options: { page, limit, label, ...options }, service, out }) {
      const usesKey = service.usesKey(options.organization);
      const organization = usesKey ? null : await service.organization(options.organization);
      const query = { ...(organization !== null && { organization }), page, limit, label };
      const { body } = await (usesKey
        ? service.asClient("GET", "/stats", { query })
        : service.asOperator("GET", "/stats", { query }));
      if (out.json) return out.document(body);
      const { pagination, ...lists } = body;
      out.list(lists, "channels", {
        CHANNEL: "id",
        NAME: "name",
        KIND: "kind",
        HEALTH: "health.state",
        CHATS: "chats",
        UNANSWERED: "unanswered",
        "WITH BOT": "withBot",
        WAITING: "queue.depth",
        OLDEST: "queue.oldest",
        ...OF_ATTEMPTS,
      });
      out.list(lists, "keys", {
        KEY: "id",
        NAME: "name",
        ...OF_REQUESTS,
      });
      out.list(lists, "members", { MEMBER: "id", NAME: "name", CHATS: "chats", UNANSWERED: "unanswered" });
      if (body.label) showLabel(body.label as LabelStats, out);
      await showWebhooks(service, organization, out);
      // One note for all lists, without a total: the service counts the longest one only.
      const { page: current, totalPages } = pagination as { page: number; totalPages: number };
      if (totalPages > 1) out.note(`Page ${current} of ${totalPages}.`);
    },
  }),
  command({
    name: "stats history",
    about: "Show the numbers of a key, a channel or a member for each of the last 48 hours or 92 days",
    details: "Uses the operator's token if it is known, else the API key, which needs stats:read. Times are in UTC.",
    operands: ["id"],
    options: {
      by: option("hour|day", "The length of a row; hour by default"),
      last: option("n", "Only the newest rows; all by default"),
    },
    async run({ operands, options: { by, last }, service, out }) {
      const query = { of: operands.id, by, last };
      const { body } = await service.asOperatorOrClient("GET", "/stats/history", { query });
      if (out.json) return out.document(body);
      const history = body.history as { by: string; buckets: Bucket[]; responseTimes?: ResponseTimes };
      const isByDay = history.by === "day";
      const rows = history.buckets.map(({ start, ...counts }) => ({
        start: isByDay ? start.slice(0, 10) : start.slice(0, 16).replace("T", " "),
        ...counts,
      }));
      const [{ attempts, refused } = {}] = history.buckets;
      const ofChannel = { ...OF_CHANNELS, ...pricesIn(history.buckets), ...handoversIn(history.buckets) };
      const counts = refused ? OF_REQUESTS : attempts ? ofChannel : OF_CONVERSATIONS;
      out.list({ buckets: rows }, "buckets", { [isByDay ? "DAY" : "HOUR"]: "start", ...counts });
      const { medianSeconds = null, p90Seconds = null } = history.responseTimes ?? {};
      if (medianSeconds === null) return;
      out.note(`In all rows, half of the answers came within ${medianSeconds} s, and 90 % within ${p90Seconds} s.`);
    },
  }),
];

interface Bucket {
  start: string;
  attempts?: object;
  refused?: object;
  prices?: Record<string, number>;
  handovers?: Record<string, number>;
}

/** A column for each category of prices. A channel without prices has none. */
function pricesIn(buckets: Bucket[]): Record<string, string> {
  const categories = new Set(buckets.flatMap(({ prices = {} }) => Object.keys(prices)));
  return Object.fromEntries([...categories].sort().map((name) => [name.toUpperCase(), `prices.${name}`]));
}

/** A column for each reason for which people got chats from a bot. A channel in which they got none has no such column. */
function handoversIn(buckets: Bucket[]): Record<string, string> {
  const reasons = HANDED_OVER.filter((reason) => buckets.some(({ handovers }) => (handovers?.[reason] ?? 0) > 0));
  return Object.fromEntries(reasons.map((reason) => [reason.replace("_", " ").toUpperCase(), `handovers.${reason}`]));
}

interface LabelStats {
  name: string;
  chats: number;
  counted: Record<string, unknown> | null;
}

/** The chats of a label. */
function showLabel({ name, chats, counted }: LabelStats, out: Output): void {
  const columns = { LABEL: "name", CHATS: "chats", ...(counted && { ...OF_LABELED, ...OF_CONVERSATIONS }) };
  out.list({ labels: [{ name, chats, ...counted }] }, "labels", columns);
  if (!counted) out.note("More than 10,000 chats have the label, so nothing else is counted.");
}

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
