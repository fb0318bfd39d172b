import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { breakObjects, breakStatements } from "../../support/faults.ts";
import { admin, type Client, newChannel, newChat, newOrganization } from "../../support/harness.ts";

afterEach(() => vi.restoreAllMocks());

const MANY = 6_000;

/** An organization with a small channel, and another channel of the same kind with many chats with later activity. */
async function withBigChannel() {
  const { organizationId, channelId, api } = await newOrganization();
  for (let i = 0; i < 25; i++) await newChat(api, channelId);
  const bigId = await newChannel(organizationId, "web");
  await env.DB.prepare(
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?2)
     insert into chats (id, organization_id, channel_id, channel_kind, contact_address, metadata, created_at, active_at)
     select printf('cht_%s%06d', substr(id, 5, 9), n), organization_id, id, kind, 'contact-' || n, '{}', ?3, ?3 + n
     from numbers join channels on id = ?1`,
  )
    .bind(bigId, MANY, Date.now())
    .run();
  await env.DB.prepare("update channels set chat_count = ?2 where id = ?1").bind(bigId, MANY).run();
  return { organizationId, channelId, bigId, api };
}

/** The number of rows that D1 reads for a request. */
async function rowsRead(api: Client, path: string): Promise<number> {
  const batch = env.DB.batch.bind(env.DB);
  let rows = 0;
  const spy = vi.spyOn(env.DB, "batch").mockImplementation(async (statements) => {
    const results = await batch(statements);
    for (const { meta } of results) rows += meta.rows_read;
    return results as never;
  });
  const answer = await api("GET", path);
  spy.mockRestore();
  expect(answer.status, answer.text).toBe(200);
  return rows;
}

test("a page of chats reads no more rows while a channel with many chats is erased", async () => {
  const { channelId, bigId, api } = await withBigChannel();
  const last = (await api("GET", `/chats?channel=${channelId}&limit=5`)).body.chats.at(-1).id;
  const paths = ["", "&channel=web", `&channel=${channelId}`, `&channel=${bigId}`, `&before=${last}`, "&page=2"];
  const costs = async () => {
    const read: number[] = [];
    for (const path of paths) read.push(await rowsRead(api, `/chats?limit=20${path}`));
    return read;
  };
  const before = await costs();
  breakObjects("CHATS", "erase");
  expect((await admin("DELETE", `/channels/${bigId}`)).status).toBe(503);
  vi.restoreAllMocks();
  const during = await costs();
  expect(Math.max(...before)).toBeLessThan(150);
  for (const [i, path] of paths.entries()) expect(during[i], path).toBeLessThanOrEqual(before[i] ?? 0);
  const { body } = await api("GET", "/chats?limit=100");
  expect([body.chats.length, body.pagination.total]).toEqual([25, 25]);
});

test("an erasure that fails while it marks the chats continues when it is repeated", async () => {
  const { bigId } = await withBigChannel();
  const marked = () =>
    env.DB.prepare("select count(*) as n from chats where channel_id = ? and erasing_at is not null")
      .bind(bigId)
      .first("n");
  breakStatements("bare", /^update chats set erasing_at/);
  expect((await admin("DELETE", `/channels/${bigId}`)).status).toBe(503);
  vi.restoreAllMocks();
  expect(await marked()).toBe(0);
  breakObjects("CHATS", "erase");
  expect((await admin("DELETE", `/channels/${bigId}`)).status).toBe(503);
  expect(await marked()).toBe(MANY);
});
