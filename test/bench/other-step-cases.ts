import { shown } from "./sizes.ts";
import type { StepCase, StepSizes } from "./step-cases.ts";
import { auditedOffice, pointers, replay, webhookOf } from "./step-data.ts";

const DAY_MS = 86_400_000;

/** Cases about events, webhooks, keys, the audit log and scheduled messages. */
export function otherSteps({ many, ownEvents, rules, seconds }: StepSizes): StepCase[] {
  return [
    {
      name: "GET /audit?actor",
      data: `${shown(many)} entries`,
      async make(place) {
        const { channel } = await auditedOffice(place, many, Date.now());
        const { id } = channel.organization;
        return (again) => again.request(`/admin/v1/organizations/${id}/audit?actor=nobody`, again.adminToken);
      },
    },
    {
      name: "audit log, alarm of the organization",
      data: `${shown(many)} entries that are too old`,
      isOnce: true,
      async make(place) {
        const { channel } = await auditedOffice(place, many, Date.now() - 500 * DAY_MS);
        return (again) => again.object("ORGANIZATIONS", channel.organization.id).ring();
      },
    },
    {
      name: "GET /events?types",
      data: `${shown(many)} pointers of other types`,
      async make(place) {
        const office = await place.office();
        await pointers(place, office, many, Date.now());
        return (again) => again.request("/api/v1/events?types=chat.deleted&limit=100", office.secret);
      },
    },
    {
      name: "feed, the first event of a day",
      data: `${shown(many * 10)} pointers that are too old`,
      isOnce: true,
      async make(place) {
        const office = await place.office();
        await pointers(place, office, many * 10, Date.now() - 40 * DAY_MS);
        return async (again) => {
          const { chatId, channel } = office;
          const senderId = channel.organization.memberId;
          await again.api(office, "POST", `/chats/${chatId}/messages`, { content: "Hello", senderId });
          await again.object("CHATS", chatId).ring();
          await again.object("ORGANIZATIONS", channel.organization.id).ring();
        };
      },
    },
    {
      name: "POST /webhooks/{id}/replays, a chat's subscription",
      data: `a chat of ${shown(many)} events`,
      isOnce: true,
      async make(place) {
        const office = await place.office();
        const { id } = await webhookOf(place, office);
        const since = new Date(Date.now() - 1_000).toISOString();
        const chat = place.object("CHATS", office.chatId);
        await place.messages(office, 2);
        const rows = "select coalesce(max(n), 0) as n from events";
        const first = Number((await chat.sql(rows))[0]?.n) + 1;
        await chat.each(
          first,
          many,
          `insert into events (n, type, seq, note, at) select n, 'message.status', 1, '{"status":"SENT"}', ? from numbers`,
          Date.now(),
        );
        await pointers(place, office, many, Date.now());
        return (again) => replay(again, office, id, { since, count: many, seconds });
      },
    },
    {
      name: "POST /webhooks/{id}/replays, the organization's subscription",
      data: `${shown(ownEvents)} events of its own`,
      isOnce: true,
      async make(place) {
        const office = await place.office();
        const { id } = await webhookOf(place, office);
        const since = new Date(Date.now() - 1_000).toISOString();
        const organization = place.object("ORGANIZATIONS", office.channel.organization.id);
        const note = JSON.stringify({ channelId: office.channel.id, state: "ok", reason: null });
        const rows = "select coalesce(max(n), 0) as n from own_events";
        const first = Number((await organization.sql(rows))[0]?.n) + 1;
        await organization.each(
          first,
          ownEvents,
          "insert into own_events (n, type, note, at) select n, 'channel.health', ?, ? from numbers",
          ...[note, Date.now()],
        );
        await pointers(place, office, ownEvents, Date.now(), true);
        return (again) => replay(again, office, id, { since, count: ownEvents, seconds });
      },
    },
    {
      name: "POST /keys",
      data: `${shown(rules)} address rules of a key with ${shown(rules)}`,
      async make(place) {
        const { channel } = await place.office();
        const rule = (n: number) => `10.${n >> 8}.${n & 255}.0/24`;
        const own = Array.from({ length: rules - 1 }, (_, n) => rule(n));
        const { secret } = await place.admin("POST", `/organizations/${channel.organization.id}/keys`, {
          name: "Key",
          permissions: ["keys:write", "keys:read", "chats:read"],
          ipAllowlist: ["203.0.113.7", ...own],
          rateLimit: { limit: 3_600_000, windowSeconds: 3_600 },
        });
        const body = JSON.stringify({ name: "Child", permissions: ["chats:read"], ipAllowlist: own.toReversed() });
        return (again) => again.request("/api/v1/keys", secret, [201, 409], { method: "POST", body });
      },
    },
    {
      name: "scheduled messages, alarm of a chat",
      data: `${shown(rules)} that are due`,
      isOnce: true,
      async make(place) {
        const office = await place.office();
        const { chatId, channel } = office;
        const senderId = channel.organization.memberId;
        const scheduledAt = new Date(Date.now() + DAY_MS).toISOString();
        await place.api(office, "POST", `/chats/${chatId}/messages`, { content: "Later", senderId, scheduledAt });
        const chat = place.object("CHATS", chatId);
        await chat.each(
          2,
          rules,
          `insert into scheduled (id, doc, due_at, turn) select id || n, json_set(doc, '$.id', id || n), due_at, turn + n
           from numbers, (select * from scheduled limit 1)`,
        );
        await chat.sql("update scheduled set due_at = ?", Date.now() - 1_000);
        return (again) => again.object("CHATS", chatId).ring();
      },
    },
  ];
}
