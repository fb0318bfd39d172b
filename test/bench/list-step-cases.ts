import { setTimeout as delay } from "node:timers/promises";
import type { Office } from "./fixtures.ts";
import { shown } from "./sizes.ts";
import type { StepCase, StepSizes } from "./step-cases.ts";
import { waitFor } from "./step-data.ts";
import type { StepPlace } from "./step-fixtures.ts";

const LABEL = "lbl_g1";

/** What a chat counts that was answered in each class of response times. */
const COUNTS = JSON.stringify({
  ...{ sent: 40, retry: 2, received: 60, messages: 40 },
  ...{ within1m: 9, within5m: 4, within15m: 3, within1h: 4, within4h: 3, within24h: 4, later: 2 },
  ...Object.fromEntries(Array.from({ length: 38 }, (_, place) => [`r${place}`, 1])),
});

/** Cases about the chats of an organization. */
export function listSteps({ many, searched, seconds }: StepSizes): StepCase[] {
  const until = (isDone: () => Promise<boolean>) => waitFor(isDone, seconds);
  const withChats = (
    name: string,
    data: string,
    run: (place: StepPlace, office: Office) => Promise<unknown>,
    { prepare = "", ...changes }: { prepare?: string } & Partial<StepCase> = {},
  ): StepCase => ({
    name,
    data: `${shown(many)} ${data}`,
    ...changes,
    async make(place) {
      const office = await place.office();
      const object = place.object("ORGANIZATIONS", office.channel.organization.id);
      await object.each(
        1,
        many,
        `insert into chats (id, channel_id, state, life, address, name, metadata, created_at, active_at)
         select 'cht_g' || printf('%015d', n), ?, 'adopted', 1, 'contact-' || n, 'Old Contact ' || n, '{}', n, n from numbers`,
        office.channel.id,
      );
      await object.sql("update channels set chats = chats + ? where id = ?", many, office.channel.id);
      if (prepare) await object.sql(prepare);
      return (again) => run(again, office);
    },
  });
  return [
    withChats(
      "GET /chats?search, refill of terms",
      "contacts",
      async (place, { secret, channel }) => {
        const organization = place.object("ORGANIZATIONS", channel.organization.id);
        await until(async () => {
          await place.request("/api/v1/chats?search=contact", secret, [200, 503]);
          return Number((await organization.sql("select count(*) as n from contact_fill"))[0]?.n) === 0;
        });
      },
      { prepare: "insert into contact_fill (after) values ('')", isOnce: true },
    ),
    {
      ...withChats("", "", async () => {}),
      name: "GET /chats?search",
      data: `${shown(searched)} contacts named with 250 accents`,
      async make(place) {
        const office = await place.office();
        const organization = place.object("ORGANIZATIONS", office.channel.organization.id);
        await organization.each(
          1,
          searched,
          `insert into chats (id, channel_id, state, life, address, name, metadata, created_at, active_at)
           select 'cht_g' || printf('%015d', n), ?, 'adopted', 1, 'contact-' || n, ?, '{}', n, n from numbers`,
          ...[office.channel.id, `Olda ${"ễ".repeat(250)}`],
        );
        await organization.each(
          1,
          searched,
          `insert into contact_terms (kind, term, chat_id, channel_id)
           select 1, 'OLDA', 'cht_g' || printf('%015d', n), ? from numbers`,
          office.channel.id,
        );
        return (again) => again.request("/api/v1/chats?search=olda%20zzz", office.secret);
      },
    },
    withChats("GET /chats?page", "chats", (place, { secret }) =>
      place.request(`/api/v1/chats?page=${Math.min(500, Math.ceil(many / 20))}`, secret),
    ),
    withChats(
      "GET /chats?unanswered",
      "chats that wait",
      (place, { secret }) => place.request("/api/v1/chats?unanswered=true&limit=100", secret),
      { prepare: "update chats set unanswered_since = created_at" },
    ),
    withChats(
      "GET /stats?label",
      "chats, 10,000 of them labeled",
      (place, { secret }) => place.request(`/api/v1/stats?label=${LABEL}`, secret),
      {
        prepare: `update chats set attempts = '${COUNTS}' where created_at <= 10000;
          insert into labels (id, name, chats, created_at)
            select '${LABEL}', 'Refund', count(*), 1 from chats where created_at <= 10000;
          insert into chat_labels (label_id, chat_id) select '${LABEL}', id from chats where created_at <= 10000`,
      },
    ),
    withChats(
      "GET /export",
      "chats",
      (place, { secret }) => Promise.race([place.request("/api/v1/export", secret), delay(seconds * 1_000)]),
      {},
    ),
    withChats(
      "DELETE /channels/{id}",
      "chats",
      async (place, { channel }) => {
        const removed = place.call(place.adminToken, "DELETE", `/admin/v1/channels/${channel.id}`);
        await Promise.race([removed, delay(seconds * 1_000)]);
      },
      { isOnce: true },
    ),
  ];
}
