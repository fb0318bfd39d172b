import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { client, newChannel, newChat, newKey } from "../../support/harness.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { team } from "./assignment-fixtures.ts";
import { labelsOf } from "./label-fixtures.ts";

const CHATS = 24_000;
/** More than SQLite merges in one query. */
const CHANNELS = 6;

/** A team with chats in several channels. Some filters meet a few of them, spread evenly. */
async function desk() {
  const { ann, channelId, organizationId } = await team();
  const api = client((await newKey(organizationId)).secret);
  const others = await Promise.all(Array.from({ length: CHANNELS - 1 }, () => newChannel(organizationId, "telegram")));
  const channels = [channelId, ...others];
  // Makes the channels known to the organization's object.
  for (const [n, id] of channels.entries()) await newChat(api, id, String(4_711 + n));
  const label = await labelsOf(organizationId).make("Refund");
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const rows = <Row>(query: string): Promise<Row[]> =>
    runInDurableObject(object, (_object, { storage }) => storage.sql.exec(query).toArray() as Row[]);
  await rows(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${CHATS})
    insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at, assignee, work_state,
      unanswered_since, person_id)
    select printf('cht_g%015d', n), '["${channels.join('","')}"]' ->> (n % ${CHANNELS}), 'adopted', 1, 'a' || n, '{}', 1,
      n, iif(n % 25 = 0, '${ann}', null), iif(n % 10 = 0, 'open', 'closed'), iif(n % 15 = 0, n, null),
      iif(n % 19 = 0, 'crm-1', null) from numbers`);
  await rows(`insert into chat_labels (label_id, chat_id) select '${label}', id from chats where active_at % 7 = 0
    and active_at <= ${CHATS}`);
  await rows(`update labels set chats = (select count(*) from chat_labels)`);
  return { ann, api, channels, label, object, rows };
}

const place = await desk();

/** Walks a list to its end. */
async function walk(query: string): Promise<string[]> {
  const ids: string[] = [];
  const by = query.includes("unanswered") ? "after" : "before";
  for (let cursor: string | null = null; ; ) {
    const at: string = cursor === null ? "" : `&${by}=${cursor}`;
    const { body } = await place.api("GET", `/chats?limit=100&${query}${at}`);
    ids.push(...body.chats.map(({ id }: Chat) => id));
    cursor = body.pagination.cursor;
    if (cursor === null) return ids;
  }
}

const { ann, channels, label } = place;

test.each([
  [`label=${label}`, "labeled"],
  [`label=${label}&state=open`, "labeled and work_state = 'open'"],
  [`label=${label}&assignee=none`, "labeled and assignee is null"],
  [`label=${label}&assignee=${ann}`, `labeled and assignee = '${ann}'`],
  [`label=${label}&unanswered=true`, "labeled and unanswered_since is not null"],
  [`label=${label}&channel=${channels[3]}`, `labeled and channel_id = '${channels[3]}'`],
  ["person=crm-1", "person_id = 'crm-1'"],
  ["person=crm-1&state=closed", "person_id = 'crm-1' and work_state = 'closed'"],
  ["unanswered=true&state=open", "unanswered_since is not null and work_state = 'open'"],
  [`unanswered=true&assignee=${ann}`, `unanswered_since is not null and assignee = '${ann}'`],
  [
    "unanswered=true&assignee=none&state=open",
    "unanswered_since is not null and assignee is null and work_state = 'open'",
  ],
  ["state=open&assignee=none", "work_state = 'open' and assignee is null"],
])("a walk of a list with %s has each of its chats once, in order", async (query, condition) => {
  const labeled = `id in (select chat_id from chat_labels where label_id = '${label}')`;
  const order = query.includes("unanswered") ? "unanswered_since, id" : "active_at desc, id desc";
  const where = condition.replace("labeled", labeled);
  const expected = await place.rows<{ id: string }>(`select id from chats where ${where} order by ${order}`);
  expect(expected.length).toBeGreaterThan(60);
  expect(await walk(query)).toEqual(expected.map(({ id }) => id));
});

test("a page of a filter that one in seven chats meets reads few rows more than it examines", async () => {
  const rows = await rowsRead(place.object, async () => {
    expect((await place.api("GET", `/chats?limit=20&label=${label}`)).body.chats).toHaveLength(20);
  });
  // 147 are examined, each with its label. Where the two reads end is 525 rows away.
  expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThan(1_300);
});
