import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { breakObjects } from "../../support/faults.ts";
import { admin, newChannel, newChat, newOrganization } from "../../support/harness.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";

// No chat reports on its own, and no erasure goes on: the rows that this reads would count as a page's.
stopTheClock();

const MANY = 6_000;

/** An organization with a small channel, and another channel of the same kind with many chats with later activity. */
async function withBigChannel() {
  const { organizationId, channelId, api } = await newOrganization();
  for (let i = 0; i < 25; i++) await newChat(api, channelId);
  const bigId = await newChannel(organizationId, "web");
  await newChat(api, bigId);
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  await runInDurableObject(organization, (_object, { storage }) => {
    storage.sql.exec(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?2)
       insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at)
       select printf('cht_%s%06d', substr(?1, 5, 9), i), ?1, 'adopted', i, 'contact-' || i, '{}', ?3, ?3 + i from n`,
      bigId,
      MANY - 1,
      Date.now(),
    );
    storage.sql.exec("update channels set chats = ? where id = ?", MANY, bigId);
  });
  return { organization, channelId, bigId, api };
}

test("a page of chats reads no more rows while a channel with many chats is erased", async () => {
  const { organization, channelId, bigId, api } = await withBigChannel();
  const last = (await api("GET", `/chats?channel=${channelId}&limit=5`)).body.chats.at(-1).id;
  const paths = ["", "&channel=web", `&channel=${channelId}`, `&channel=${bigId}`, `&before=${last}`, "&page=2"];
  const costs = async () => {
    const read: number[] = [];
    for (const path of paths) {
      const rows = await rowsRead(organization, async () => {
        expect((await api("GET", `/chats?limit=20${path}`)).status).toBe(200);
      });
      read.push(rows.reduce((sum, each) => sum + each, 0));
    }
    return read;
  };
  const before = await costs();
  breakObjects("CHATS", "erase");
  expect((await admin("DELETE", `/channels/${bigId}`)).status).toBe(503);
  vi.restoreAllMocks();
  const during = await costs();
  expect(Math.max(...before)).toBeLessThan(250);
  for (const [i, path] of paths.entries()) expect(during[i], path).toBeLessThanOrEqual((before[i] ?? 0) + 5);
  const { body } = await api("GET", `/chats?limit=100&channel=${channelId}`);
  expect([body.chats.length, body.pagination.total]).toEqual([25, 25]);
  expect((await api("GET", "/chats")).body.pagination.total).toBe(25);
});
