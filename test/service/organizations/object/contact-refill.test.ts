import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { folded } from "../../../../src/model/folding.ts";
import { admin } from "../../../support/harness.ts";
import { until } from "../../../support/until.ts";
import { add, filled, idsOf, isFilled, object, oldId, pagesOf, place, termsIn, withOldChats } from "./contacts.ts";

test("chats without terms are indexed at the first search, and chats that change meanwhile are found too", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  await withOldChats(organizationId, channelId, 1_200);
  expect((await api("PATCH", `/chats/${ids[0]}`, { contact: { name: "Zoe" } })).status).toBe(200);
  const added = await add(api, channelId, { address: "zoe@shop.test" });
  expect((await admin("DELETE", `/chats/${ids[5]}`)).status).toBe(200);
  const found = await find("old", "&limit=100");
  expect(idsOf(found)).toHaveLength(100);
  expect(idsOf(await find("old-1199"))).toEqual([oldId(1_199)]);
  expect(idsOf(await find("zoe"))).toEqual([added, ids[0]]);
  expect(idsOf(await find("okafor"))).toEqual([]);
  expect(idsOf(await find("gross"))).toEqual([ids[2]]);
  const counts = await runInDurableObject(object(organizationId), (_object, { storage }) => [
    storage.sql.exec("select count(*) as n from contact_terms where term in ('OLD', 'CONTACT')").one().n,
    storage.sql.exec("select count(*) as n from contact_fill").one().n,
  ]);
  expect(counts).toEqual([2_400, 0]);
  expect((await termsIn(organizationId, ids)).filter(([, at]) => at === 5)).toEqual([]);
});

test("while a large object is indexed, searches examine the chats themselves", async () => {
  const { organizationId, channelId, ids, find } = await place();
  await withOldChats(organizationId, channelId, 22_000);
  // Each search indexes about 10,000 chats. The alarm does the same meanwhile, and could be done before a search looks.
  await runInDurableObject(object(organizationId), (instance) => {
    vi.spyOn(instance as Required<DurableObject>, "alarm").mockResolvedValue();
  });
  const first = await find("old-21999");
  expect(idsOf(first)).toEqual([]);
  expect(first.body.pagination.hasMore).toBe(true);
  const found = await pagesOf((more) => find("old-2199", more));
  expect(found.toSorted()).toEqual(["", ..."0123456789"].map((end) => oldId(Number(`2199${end}`))).toSorted());
  expect(await pagesOf((more) => find("okafor", more))).toEqual([ids[0]]);
});

test("the alarm goes on to index what the first search did not reach", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  await withOldChats(organizationId, channelId, 22_000);
  await find("old-21999");
  expect((await api("PATCH", `/chats/${ids[0]}`, { contact: { name: "Zoe" } })).status).toBe(200);
  await until("all chats are indexed", () => isFilled(organizationId));
  expect(idsOf(await find("old-21999"))).toEqual([oldId(21_999)]);
  expect(idsOf(await find("zoe"))).toEqual([ids[0]]);
});

/** Gives the object the terms that an older folding made. */
async function withOldFolding(organizationId: string, change: (sql: SqlStorage) => void = () => {}) {
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    storage.sql.exec("delete from contact_terms where term in ('JOSE', 'NUNEZ')");
    change(storage.sql);
    storage.sql.exec("update contact_folding set version = 1");
  });
  await evictDurableObject(object(organizationId));
}

test("terms of another version of the folding are emptied and filled again at the first search", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  const jose = await add(api, channelId, { address: "jose@shop.test", name: "José Núñez" });
  await withOldFolding(organizationId, (sql) => {
    for (const term of ["JOSÉ", "NÚÑEZ"]) {
      sql.exec(
        "insert into contact_terms (kind, term, chat_id, channel_id) values (1, ?, ?, ?)",
        term,
        jose,
        channelId,
      );
    }
  });
  expect((await api("PATCH", `/chats/${ids[0]}`, { contact: { name: "Zoë" } })).status).toBe(200);
  expect((await admin("DELETE", `/chats/${ids[5]}`)).status).toBe(200);
  const added = await add(api, channelId, { address: "zoe-2", name: "Nuno" });
  expect(idsOf(await find("nunez"))).toEqual([jose]);
  expect(idsOf(await find("zoe"))).toEqual([added, ids[0]]);
  expect(idsOf(await find("okafor"))).toEqual([]);
  expect((await termsIn(organizationId, [...ids, jose, added])).map(([term, at]) => `${term} ${at}`)).toEqual(
    (await termsIn(organizationId, [...ids, jose, added])).map(([term, at]) => `${folded(term)} ${at}`),
  );
  expect((await termsIn(organizationId, ids)).filter(([, at]) => at === 5)).toEqual([]);
});

test("terms of another version go in steps of 500, by searches and the alarm, and searches are right meanwhile", async () => {
  const { organizationId, channelId, ids, find } = await place();
  await withOldChats(organizationId, channelId, 3_000);
  await filled(organizationId);
  await withOldFolding(organizationId, (sql) => {
    sql.exec(
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 40000)
       insert into contact_terms (kind, term, chat_id, channel_id) select 1, 'ÓLD-' || n, 'cht_x', ? from numbers`,
      channelId,
    );
  });
  const written: number[] = [];
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    const transaction = storage.transactionSync.bind(storage);
    storage.transactionSync = ((work: () => unknown) => {
      const changes = () => storage.sql.exec<{ n: number }>("select total_changes() as n").one().n;
      const before = changes();
      const result = transaction(work);
      written.push(changes() - before);
      return result;
    }) as typeof storage.transactionSync;
  });
  expect(idsOf(await find("okafor"))).toEqual([ids[0]]);
  expect(idsOf(await find("old-2999"))).toEqual([oldId(2_999)]);
  await filled(organizationId);
  expect(idsOf(await find("okafor"))).toEqual([ids[0]]);
  expect(await termsIn(organizationId, ids).then((terms) => terms.filter(([term]) => /Ó/.test(term)))).toEqual([]);
  expect(written.length).toBeGreaterThan(45);
  expect(Math.max(...written)).toBeLessThan(580);
});
